"""Let the database itself refuse a decision that is none and an effect that nobody agreed to.

Whatever the code does, the application's role cannot file a proposal as decided, agree in its own
matter or with something else than was filed, decide too late, carry out without the people it
takes, or carry out twice.
"""

from django.db import connections, migrations

GUARDS = r"""
CREATE FUNCTION approvals_guard_filing() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.status NOT IN ('pending', 'recorded')
        AND NOT (NEW.tier = 'LOW' AND NEW.status = 'executing')
    THEN
        RAISE EXCEPTION 'a proposal is filed as pending or recorded, not as %', NEW.status
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.people < 1 OR NEW.decided_at IS NOT NULL OR NEW.executed_at IS NOT NULL THEN
        RAISE EXCEPTION 'nothing is decided or done when it is filed'
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard_filing BEFORE INSERT ON approvals_proposal
FOR EACH ROW EXECUTE FUNCTION approvals_guard_filing();

CREATE FUNCTION approvals_guard_decision() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked public.approvals_proposal%ROWTYPE;
    member public.auth_user%ROWTYPE;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'what a person decided is never changed or removed'
        USING ERRCODE = 'restrict_violation';
    END IF;
    SELECT * INTO asked FROM public.approvals_proposal WHERE id = NEW.proposal_id FOR UPDATE;
    SELECT * INTO member FROM public.auth_user
    WHERE id = NEW.user_id AND username = NEW.name AND is_active AND is_staff;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nobody of this name decides' USING ERRCODE = 'restrict_violation';
    END IF;
    SELECT coalesce(array_agg(role ORDER BY role), '{}') INTO NEW.roles
    FROM public.dsupport_membership WHERE user_id = member.id AND tenant_id = asked.tenant_id;
    IF member.is_superuser AND NOT 'admin' = ANY (NEW.roles) THEN
        NEW.roles := NEW.roles || 'admin'::varchar;
    END IF;
    IF NOT NEW.roles && ARRAY['approver', 'senior_approver', 'admin']::varchar[] THEN
        RAISE EXCEPTION '% is no approver of this shop', NEW.name
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF asked.status <> 'pending' OR NEW.at > asked.expires_at THEN
        RAISE EXCEPTION 'it can no longer be decided' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.shown_hash <> asked.hash THEN
        RAISE EXCEPTION 'something else was shown than was filed'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF (asked.principal ->> 'staff_id') = NEW.user_id::text OR asked.edited_by = NEW.name THEN
        RAISE EXCEPTION 'nobody decides in their own matter'
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON approvals_decision
FOR EACH ROW EXECUTE FUNCTION approvals_guard_decision();

CREATE FUNCTION approvals_guard_progress() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.amount_minor, OLD.currency, OLD.people, OLD.edited_by)
        IS DISTINCT FROM (NEW.amount_minor, NEW.currency, NEW.people, NEW.edited_by)
    THEN
        RAISE EXCEPTION 'what was proposed never changes; make a new proposal'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status = NEW.status THEN
        RETURN NEW;
    END IF;
    IF NEW.status = 'approved' AND (NEW.decided_at > OLD.expires_at OR OLD.people > (
        SELECT count(*) FROM public.approvals_decision
        WHERE proposal_id = OLD.id AND kind = 'approve' AND shown_hash = OLD.hash))
    THEN
        RAISE EXCEPTION 'not enough people agreed in time' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status IN ('approved', 'rejected') AND NOT EXISTS (
        SELECT 1 FROM public.approvals_decision
        WHERE proposal_id = OLD.id AND name = NEW.decided_by
        AND kind = CASE NEW.status WHEN 'approved' THEN 'approve' ELSE 'reject' END)
    THEN
        RAISE EXCEPTION '% has not said so', NEW.decided_by USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status = 'executed' AND NOT EXISTS (
        SELECT 1 FROM public.approvals_effect WHERE proposal_id = OLD.id)
    THEN
        RAISE EXCEPTION 'nothing is done without its effect on record'
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_progress BEFORE UPDATE ON approvals_proposal
FOR EACH ROW EXECUTE FUNCTION approvals_guard_progress();

CREATE FUNCTION approvals_guard_effect() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'what was done is never changed or removed'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM public.approvals_proposal
        WHERE id = NEW.proposal_id AND tenant_id = NEW.tenant_id AND action = NEW.action
        AND status IN ('executing', 'unknown'))
    THEN
        RAISE EXCEPTION 'nothing is done that is not being carried out'
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON approvals_effect
FOR EACH ROW EXECUTE FUNCTION approvals_guard_effect();

CREATE FUNCTION approvals_keep_rows() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'these rows are never removed' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER keep_rows BEFORE TRUNCATE ON approvals_decision
FOR EACH STATEMENT EXECUTE FUNCTION approvals_keep_rows();
CREATE TRIGGER keep_rows BEFORE TRUNCATE ON approvals_effect
FOR EACH STATEMENT EXECUTE FUNCTION approvals_keep_rows();
"""

BACK = """
DROP TRIGGER keep_rows ON approvals_effect;
DROP TRIGGER keep_rows ON approvals_decision;
DROP FUNCTION approvals_keep_rows();
DROP TRIGGER guard ON approvals_effect;
DROP FUNCTION approvals_guard_effect();
DROP TRIGGER keep_progress ON approvals_proposal;
DROP FUNCTION approvals_guard_progress();
DROP TRIGGER guard ON approvals_decision;
DROP FUNCTION approvals_guard_decision();
DROP TRIGGER guard_filing ON approvals_proposal;
DROP FUNCTION approvals_guard_filing();
"""


def narrow_rights(apps, schema_editor):
    """Take from the application's role all but reading and adding."""
    role = schema_editor.quote_name(connections["default"].settings_dict["USER"])
    for table in ("approvals_decision", "approvals_effect"):
        schema_editor.execute(f"REVOKE ALL ON {table} FROM {role}")
        schema_editor.execute(f"GRANT SELECT, INSERT ON {table} TO {role}")


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0003_decisions_and_effects"),
        ("dsupport", "0002_desk"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [
        migrations.RunSQL(GUARDS, BACK),
        migrations.RunPython(narrow_rights, migrations.RunPython.noop),
    ]
