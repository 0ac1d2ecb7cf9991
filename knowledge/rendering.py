"""Articles as safe HTML: no script, no foreign image, an id on every heading."""

from __future__ import annotations

import nh3

from knowledge.rules.chunking import heading_anchors, markdown_parser

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}} | {f"h{n}": {"id"} for n in range(1, 7)}


def render_article(body: str) -> str:
    """Return an article's Markdown as HTML. HTML in it is shown as text; images are left out."""
    parser = markdown_parser()
    tokens = parser.parse(body)
    for index, anchor in heading_anchors(tokens).items():
        tokens[index].attrSet("id", anchor)
    html = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
