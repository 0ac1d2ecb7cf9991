"""What the environment (and `.env`, when there is one) says. Read once, validated, no Django."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent
_LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]


class RoleEnvironment(BaseModel):
    """Which model one role uses, and with how much effort; empty means the default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = ""
    effort: str = ""
    thinking_room: int | None = Field(default=None, ge=0)
    max_output_tokens: int = Field(default=0, ge=0)


class PriceEnvironment(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache_write: Decimal = Field(default=Decimal(0), ge=0)
    cache_read: Decimal = Field(default=Decimal(0), ge=0)


class WebhookEnvironment(BaseModel):
    """Where a shop's events go, and the secret that signs them, as `whsec_` and base64."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(pattern=r"^https?://")
    secret: str = Field(min_length=32)


class Environment(BaseSettings):
    """Every variable that DSupport reads, with its default."""

    model_config = SettingsConfigDict(env_file=BASE_DIR / ".env", extra="ignore")

    database_url: str = ""
    database_owner_url: str = ""
    redis_url: str = ""
    secret_key: str = ""
    allowed_hosts: Annotated[list[str], NoDecode] = Field(default=_LOCAL_HOSTS)

    anthropic_api_key: str = ""
    anthropic_base_url: str = ""
    openai_api_key: str = ""
    openai_base_url: str = ""

    dsupport_debug: bool = False
    dsupport_demo: bool = False
    dsupport_https: bool = False
    dsupport_tenant: str = "demo"
    dsupport_provider: Literal["", "offline", "scripted", "anthropic", "openai"] = ""
    dsupport_model: str = ""
    dsupport_effort: str = ""
    dsupport_model_solo: str = ""
    dsupport_model_orchestrator: str = ""
    dsupport_model_knowledge: str = ""
    dsupport_model_orders: str = ""
    dsupport_model_escalation: str = ""
    dsupport_model_reviewer: str = ""
    dsupport_model_answerability: str = ""
    dsupport_roles: dict[str, RoleEnvironment] = Field(default_factory=dict)
    dsupport_prices: dict[str, PriceEnvironment] = Field(default_factory=dict)
    dsupport_hide_personal_data: bool = True
    dsupport_next_as_schema: bool = False
    dsupport_model_concurrency: int = Field(default=16, ge=1)
    dsupport_budget_customer_usd: Decimal = Field(default=Decimal(0), ge=0)
    dsupport_budget_tenant_usd: Decimal = Field(default=Decimal(0), ge=0)
    dsupport_budget_system_usd: Decimal = Field(default=Decimal(0), ge=0)
    dsupport_budget_customer_tokens: int = Field(default=0, ge=0)
    dsupport_budget_tenant_tokens: int = Field(default=0, ge=0)
    dsupport_budget_system_tokens: int = Field(default=0, ge=0)
    dsupport_messages_customer: int = Field(default=20, ge=0)
    dsupport_messages_tenant: int = Field(default=600, ge=0)
    dsupport_messages_system: int = Field(default=3_000, ge=0)
    dsupport_architecture: Literal["solo", "team"] = "solo"
    dsupport_embedder: str = "knowledge.adapters.minilm.MiniLM"
    dsupport_embedding_model: str = ""
    dsupport_embedding_dims: int = Field(default=0, ge=0, le=4_096)
    dsupport_embedding_url: str = ""
    voyage_api_key: str = ""
    dsupport_carrier: str = "orders.adapters.simulated.SimulatedCarrier"
    dsupport_payments: str = "orders.adapters.payments.SimulatedPayments"
    dsupport_data: Path = BASE_DIR / ".dsupport"
    dsupport_static_root: Path | None = None
    dsupport_clock: datetime | None = None
    dsupport_db_pool: int = 12
    dsupport_db_prepare: bool = True
    dsupport_url: str = Field(default="http://127.0.0.1:8000", pattern=r"^https?://[^/]+(/.*)?$")
    dsupport_webhooks: dict[str, WebhookEnvironment] = Field(default_factory=dict)
    dsupport_email_from: str = "DSupport <support@localhost>"
    email_host: str = ""
    email_port: int = 587
    email_user: str = ""
    email_password: str = ""
    email_tls: Literal["", "starttls", "tls"] = "starttls"
    dsupport_lease_seconds: float = Field(default=30, ge=1)
    dsupport_log_format: Literal["console", "json"] = "console"
    dsupport_log_level: str = "INFO"

    def models_by_role(self) -> dict[str, str]:
        """Return the models that `DSUPPORT_MODEL_<ROLE>` name, by role."""
        roles = ("solo", "orchestrator", "knowledge", "orders", "escalation", "reviewer",
                 "answerability")  # fmt: skip
        named = {role: str(getattr(self, f"dsupport_model_{role}")) for role in roles}
        return {role: model for role, model in named.items() if model}

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return [host.strip() for host in value.split(",") if host.strip()]
        return value

    @field_validator("dsupport_url")
    @classmethod
    def _without_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @field_validator("dsupport_clock")
    @classmethod
    def _needs_zone(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("needs a zone, for example 2026-10-15T09:00:00Z")
        return value

    @property
    def provider(self) -> str:
        return self.dsupport_provider or "offline"


class EnvironmentProblem(Exception):
    """A variable that cannot be used; the message names it and says what is wrong."""


@cache
def read_environment() -> Environment:
    """Return the environment, read once; raise `EnvironmentProblem` when it is wrong."""
    try:
        return Environment()
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
            for item in error.errors()
        ]
        raise EnvironmentProblem("; ".join(lines)) from None
