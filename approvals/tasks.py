"""What workers and the clock do with proposals. Messages carry ids; the row is the job."""

from __future__ import annotations

from celery import shared_task

from approvals.services import executable, execute, expire_due
from approvals.telling.mail import plan_notices, send_notices
from approvals.telling.webhooks import send_all
from dsupport.lib import clock
from dsupport.lib.queue import enqueue


@shared_task(name="approvals.execute", acks_late=False, ignore_result=True)
def execute_proposal(proposal_id: str) -> None:
    """Carry out what was approved, unless another worker has it."""
    execute(proposal_id, now=clock.now())


@shared_task(name="approvals.sweep", ignore_result=True)
def sweep_proposals() -> int:
    """Wake a worker for what was approved or left behind; end what nobody decided in time."""
    ids = executable()
    for proposal_id in ids:
        enqueue("approvals.execute", proposal_id=proposal_id)
    expire_due(now=clock.now())
    return len(ids)


@shared_task(name="approvals.notify", ignore_result=True)
def notify_people() -> int:
    """Tell those who decide of what waits, and remind them; return how many e-mails went out."""
    plan_notices(now=clock.now())
    return send_notices(now=clock.now())


@shared_task(name="approvals.send_events", ignore_result=True)
def send_events() -> int:
    """Send what the shops' webhooks have not heard yet; return how many events they took."""
    return send_all()
