"""Who sees and who decides in the console; every service judges it again."""

from __future__ import annotations

from dsupport.models import Membership

# Whoever edits help articles has no business with what customers asked for.
CASE_WORKERS = frozenset(Membership.Role.values) - {Membership.Role.EDITOR}
