"""Let the database itself keep the audit chain and what was proposed.

The application's role may add entries and read them, nothing else: place, time of recording and
hashes are set by a trigger that runs with the owner's rights. Nobody changes or deletes an entry
or a proposal's content, the owner included, unless the trigger is dropped first.
"""

from django.db import connections, migrations

CHAIN = r"""
-- The owner's own sequence, so that no insert can choose an id (a chosen one could collide and
-- leave the head ahead of the table).
ALTER TABLE approvals_auditentry ALTER COLUMN id DROP IDENTITY IF EXISTS;
CREATE SEQUENCE approvals_auditentry_number OWNED BY approvals_auditentry.id;

-- Every field carries its length in bytes, so no two entries run together into the same text.
CREATE FUNCTION approvals_audit_digest(
    tenant_id bigint, seq bigint, at timestamptz, recorded_at timestamptz, kind text,
    actor text, subject text, detail text, prev_hash text
) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC' AS $$
DECLARE
    instant CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
    joined text := '';
    field text;
BEGIN
    FOREACH field IN ARRAY ARRAY[
        'dsupport.audit/1', coalesce(tenant_id::text, ''), seq::text, to_char(at, instant),
        to_char(recorded_at, instant), kind, actor, subject, detail, prev_hash
    ] LOOP
        joined := joined || octet_length(convert_to(field, 'UTF8')) || ':' || field;
    END LOOP;
    RETURN encode(sha256(convert_to(joined, 'UTF8')), 'hex');
END
$$;

CREATE FUNCTION approvals_audit_chain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head public.approvals_audithead%ROWTYPE;
    place bigint := coalesce(NEW.tenant_id, 0);
BEGIN
    SELECT * INTO head FROM public.approvals_audithead WHERE chain = place FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO public.approvals_audithead (chain, count, hash)
        VALUES (place, 0, repeat('0', 64)) ON CONFLICT DO NOTHING;
        SELECT * INTO STRICT head FROM public.approvals_audithead WHERE chain = place FOR UPDATE;
    END IF;
    NEW.id := nextval('public.approvals_auditentry_number');
    NEW.seq := head.count + 1;
    NEW.recorded_at := clock_timestamp();
    NEW.prev_hash := head.hash;
    NEW.hash := public.approvals_audit_digest(
        NEW.tenant_id, NEW.seq, NEW.at, NEW.recorded_at, NEW.kind, NEW.actor, NEW.subject,
        NEW.detail, NEW.prev_hash
    );
    UPDATE public.approvals_audithead SET count = NEW.seq, hash = NEW.hash WHERE chain = place;
    RETURN NEW;
END
$$;
-- Otherwise the application's role could hang it on a temporary table of its own and move a head.
REVOKE ALL ON FUNCTION approvals_audit_chain() FROM PUBLIC;

CREATE TRIGGER chain BEFORE INSERT ON approvals_auditentry
FOR EACH ROW EXECUTE FUNCTION approvals_audit_chain();

CREATE FUNCTION approvals_keep_audit() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are never changed or removed (% on %)', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER keep BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_auditentry
FOR EACH STATEMENT EXECUTE FUNCTION approvals_keep_audit();
CREATE TRIGGER keep BEFORE DELETE OR TRUNCATE ON approvals_audithead
FOR EACH STATEMENT EXECUTE FUNCTION approvals_keep_audit();
"""

PROPOSALS = r"""
CREATE FUNCTION approvals_keep_proposal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        RAISE EXCEPTION 'proposals are never removed' USING ERRCODE = 'restrict_violation';
    END IF;
    IF (OLD.id, OLD.tenant_id, OLD.owner_key, OLD.principal, OLD.action, OLD.tier,
        OLD.arguments, OLD.arguments_text, OLD.snapshot, OLD.evidence, OLD.evidence_digest,
        OLD.policy_version, OLD.hash, OLD.description, OLD.intent_key, OLD.origin_key,
        OLD.run_id, OLD.conversation_id, OLD.article_ids, OLD.created_at, OLD.expires_at)
        IS DISTINCT FROM
       (NEW.id, NEW.tenant_id, NEW.owner_key, NEW.principal, NEW.action, NEW.tier,
        NEW.arguments, NEW.arguments_text, NEW.snapshot, NEW.evidence, NEW.evidence_digest,
        NEW.policy_version, NEW.hash, NEW.description, NEW.intent_key, NEW.origin_key,
        NEW.run_id, NEW.conversation_id, NEW.article_ids, NEW.created_at, NEW.expires_at)
    THEN
        RAISE EXCEPTION 'what was proposed never changes; make a new proposal'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.decided_at IS NOT NULL
        AND (OLD.decided_at, OLD.decided_by, OLD.reason_code, OLD.reason)
            IS DISTINCT FROM (NEW.decided_at, NEW.decided_by, NEW.reason_code, NEW.reason)
    THEN
        RAISE EXCEPTION 'a decision is made once' USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
        'pending>approved', 'pending>rejected', 'pending>expired', 'pending>cancelled',
        'pending>superseded', 'pending>conflict',
        'approved>executing', 'approved>conflict', 'approved>expired', 'approved>cancelled',
        'executing>executed', 'executing>conflict', 'executing>failed', 'executing>unknown',
        'unknown>executed', 'unknown>failed',
        'recorded>expired', 'recorded>cancelled', 'recorded>superseded'
    ) THEN
        RAISE EXCEPTION 'a proposal does not go from % to %', OLD.status, NEW.status
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status = 'executed'
        AND (OLD.result, OLD.executed_at) IS DISTINCT FROM (NEW.result, NEW.executed_at)
    THEN
        RAISE EXCEPTION 'a result is recorded once' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER keep_content BEFORE UPDATE ON approvals_proposal
FOR EACH ROW EXECUTE FUNCTION approvals_keep_proposal();
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON approvals_proposal
FOR EACH STATEMENT EXECUTE FUNCTION approvals_keep_proposal();
"""

BACK = """
DROP TRIGGER keep_rows ON approvals_proposal;
DROP TRIGGER keep_content ON approvals_proposal;
DROP FUNCTION approvals_keep_proposal();
DROP TRIGGER keep ON approvals_audithead;
DROP TRIGGER keep ON approvals_auditentry;
DROP FUNCTION approvals_keep_audit();
DROP TRIGGER chain ON approvals_auditentry;
DROP FUNCTION approvals_audit_chain();
DROP FUNCTION approvals_audit_digest(
    bigint, bigint, timestamptz, timestamptz, text, text, text, text, text
);
DROP SEQUENCE approvals_auditentry_number;
ALTER TABLE approvals_auditentry ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY;
"""


def narrow_rights(apps, schema_editor):
    """Take from the application's role all but what it needs."""
    role = schema_editor.quote_name(connections["default"].settings_dict["USER"])
    for statement in (
        f"REVOKE ALL ON approvals_auditentry, approvals_audithead, approvals_proposal FROM {role}",
        f"REVOKE ALL ON SEQUENCE approvals_auditentry_number FROM {role}",
        f"GRANT SELECT, INSERT ON approvals_auditentry TO {role}",
        f"GRANT SELECT ON approvals_audithead TO {role}",
        f"GRANT SELECT, INSERT, UPDATE ON approvals_proposal TO {role}",
    ):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_proposals_and_audit")]
    operations = [
        migrations.RunSQL(CHAIN, BACK),
        migrations.RunSQL(PROPOSALS, migrations.RunSQL.noop),
        migrations.RunPython(narrow_rights, migrations.RunPython.noop),
    ]
