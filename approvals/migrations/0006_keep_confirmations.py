"""Let the database keep what a customer was shown, and their answer."""

from django.db import connections, migrations

GUARD = r"""
CREATE FUNCTION approvals_keep_confirmation() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'asked' OR NEW.proposal_id IS NOT NULL THEN
            RAISE EXCEPTION 'a card begins unanswered' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF TG_OP <> 'UPDATE' THEN
        RAISE EXCEPTION 'cards are never removed' USING ERRCODE = 'restrict_violation';
    END IF;
    IF (OLD.id, OLD.tenant_id, OLD.owner_key, OLD.action, OLD.arguments, OLD.evidence, OLD.hash,
        OLD.intent_key, OLD.card, OLD.run_id, OLD.conversation_id, OLD.created_at, OLD.expires_at)
        IS DISTINCT FROM
       (NEW.id, NEW.tenant_id, NEW.owner_key, NEW.action, NEW.arguments, NEW.evidence, NEW.hash,
        NEW.intent_key, NEW.card, NEW.run_id, NEW.conversation_id, NEW.created_at, NEW.expires_at)
    THEN
        RAISE EXCEPTION 'what a customer was shown never changes'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status <> 'asked' AND OLD.status <> NEW.status
        OR OLD.proposal_id IS NOT NULL AND OLD.proposal_id IS DISTINCT FROM NEW.proposal_id
    THEN
        RAISE EXCEPTION 'a card is answered once' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.proposal_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.approvals_proposal WHERE id = NEW.proposal_id
        AND hash = NEW.hash AND tenant_id = NEW.tenant_id AND owner_key = NEW.owner_key)
    THEN
        RAISE EXCEPTION 'the card showed something else' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep BEFORE INSERT OR UPDATE OR DELETE ON approvals_confirmation
FOR EACH ROW EXECUTE FUNCTION approvals_keep_confirmation();
"""

BACK = """
DROP TRIGGER keep ON approvals_confirmation;
DROP FUNCTION approvals_keep_confirmation();
"""


def narrow_rights(apps, schema_editor):
    role = schema_editor.quote_name(connections["default"].settings_dict["USER"])
    schema_editor.execute(f"REVOKE ALL ON approvals_confirmation FROM {role}")
    schema_editor.execute(f"GRANT SELECT, INSERT, UPDATE ON approvals_confirmation TO {role}")


class Migration(migrations.Migration):
    dependencies = [("approvals", "0005_confirmations")]
    operations = [
        migrations.RunSQL(GUARD, BACK),
        migrations.RunPython(narrow_rights, migrations.RunPython.noop),
    ]
