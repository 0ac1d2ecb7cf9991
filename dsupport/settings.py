"""Django settings, all from the environment; see `.env.example` for the variables."""

from __future__ import annotations

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static

from dsupport.environment import BASE_DIR, read_environment
from dsupport.lib.logs import logging_config

env = read_environment()

if not env.database_url or not env.redis_url:
    raise ImproperlyConfigured(
        "DATABASE_URL and REDIS_URL are not set. Start through manage.py, which brings its own "
        "PostgreSQL and Valkey (try: uv run manage.py demo), or set both."
    )
if not env.secret_key:
    raise ImproperlyConfigured("SECRET_KEY is not set. Set it to 50 random characters.")

DEBUG = env.dsupport_debug
SECRET_KEY = env.secret_key
ALLOWED_HOSTS = env.allowed_hosts

# --- DSupport's own -------------------------------------------------------------------------
DSUPPORT_DATA = env.dsupport_data
DSUPPORT_DEMO = env.dsupport_demo
DSUPPORT_TENANT = env.dsupport_tenant
DSUPPORT_CLOCK = env.dsupport_clock
DSUPPORT_PROVIDER = env.provider
DSUPPORT_ARCHITECTURE = env.dsupport_architecture
# How long a run belongs to a worker that has not been heard of since.
DSUPPORT_LEASE_SECONDS = env.dsupport_lease_seconds
# Where people reach this desk: the links in e-mails and webhooks begin with it.
DSUPPORT_URL = env.dsupport_url
# By shop: where its events go, and the key that signs them.
DSUPPORT_WEBHOOKS = {slug: hook.model_dump() for slug, hook in env.dsupport_webhooks.items()}
DSUPPORT_SEEDER = "dsupport.demo.seed.seed_demo"
# What `manage.py approvals prove` runs.
DSUPPORT_PROVER = "evals.prove.prove"
# What `manage.py explain` asks.
DSUPPORT_EXPLAINER = "evals.explain.explain"
# One dotted path per port, like EMAIL_BACKEND.
DSUPPORT_EMBEDDER = env.dsupport_embedder
DSUPPORT_CARRIER = env.dsupport_carrier
DSUPPORT_PAYMENTS = env.dsupport_payments
DSUPPORT_PROVIDERS = {
    "offline": "agents.adapters.offline.OfflineRules",
    "scripted": "agents.adapters.scripted.ScriptedModel",
    "anthropic": "agents.houses.claude",
    "openai": "agents.houses.openai_compatible",
}
# Which model each role uses where DSUPPORT_MODEL and DSUPPORT_ROLES name none. The reviewer reads
# what code has checked already, and a quote is checked by code, so small ones do.
DSUPPORT_MODELS: dict[str, dict[str, Any]] = {
    "anthropic": {
        "api_key": env.anthropic_api_key,
        "base_url": env.anthropic_base_url,
        "model": "claude-sonnet-5-5",
        "roles": {
            "reviewer": {"model": "claude-haiku-5-5", "effort": "low"},
            "answerability": {"model": "claude-haiku-5-5", "effort": "low"},
        },
        "thinking_room": 4_000,
    },
    "openai": {
        "api_key": env.openai_api_key,
        "base_url": env.openai_base_url,
        "model": "",
        "roles": {},
        "thinking_room": 0,
    },
}
DSUPPORT_EMBEDDINGS: dict[str, dict[str, Any]] = {
    "voyage": {
        "key": env.voyage_api_key,
        "base_url": env.dsupport_embedding_url or "https://api.voyageai.com/v1",
        "model": env.dsupport_embedding_model or "voyage-3.5",
        "dims": env.dsupport_embedding_dims or 1024,
    },
    "openai": {
        "key": env.openai_api_key,
        "base_url": env.dsupport_embedding_url
        or env.openai_base_url
        or "https://api.openai.com/v1",
        "model": env.dsupport_embedding_model or "text-embedding-3-small",
        "dims": env.dsupport_embedding_dims or 1536,
    },
}
DSUPPORT_MODEL = env.dsupport_model
DSUPPORT_EFFORT = env.dsupport_effort
DSUPPORT_ROLES = {name: role.model_dump() for name, role in env.dsupport_roles.items()}
for _role, _model in env.models_by_role().items():
    DSUPPORT_ROLES[_role] = {**DSUPPORT_ROLES.get(_role, {}), "model": _model}
DSUPPORT_HIDE_PERSONAL_DATA = env.dsupport_hide_personal_data
DSUPPORT_NEXT_AS_SCHEMA = env.dsupport_next_as_schema
DSUPPORT_MODEL_CONCURRENCY = env.dsupport_model_concurrency
# US dollars for a million tokens, as published on 30 November 2026. `above` holds for the whole
# request once its prompt has more tokens than `long_prompt`.
DSUPPORT_PRICES: dict[str, dict[str, Any]] = {
    "claude-haiku-5-5": {
        "input": "0.10", "output": "0.50", "cache_write": "0.125", "cache_read": "0.01",
        "long_prompt": 100_000,
        "above": {"input": "0.50", "output": "2.50", "cache_write": "0.625", "cache_read": "0.05"},
    },
    "claude-sonnet-5-5": {
        "input": "2", "output": "10", "cache_write": "2.50", "cache_read": "0.10",
    },
    "claude-opus-5-5": {"input": "4", "output": "20", "cache_write": "5", "cache_read": "0.20"},
    **{name: price.model_dump() for name, price in env.dsupport_prices.items()},
}  # fmt: skip
# Millionths of a US dollar for a day of the shop's calendar; 0 means no budget.
DSUPPORT_BUDGETS = {
    "customer": int(env.dsupport_budget_customer_usd * 1_000_000),
    "tenant": int(env.dsupport_budget_tenant_usd * 1_000_000),
    "system": int(env.dsupport_budget_system_usd * 1_000_000),
}
# Tokens of input and output for a day of the shop's calendar; 0 means no budget.
DSUPPORT_TOKEN_BUDGETS = {
    "customer": env.dsupport_budget_customer_tokens,
    "tenant": env.dsupport_budget_tenant_tokens,
    "system": env.dsupport_budget_system_tokens,
}
# Messages in a minute; 0 means no limit.
DSUPPORT_MESSAGES_PER_MINUTE = {
    "customer": env.dsupport_messages_customer,
    "tenant": env.dsupport_messages_tenant,
    "system": env.dsupport_messages_system,
}

# --- Django ---------------------------------------------------------------------------------
INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "dsupport",
    "approvals",
    "orders",
    "tickets",
    "knowledge",
    "agents",
    "evals",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dsupport.middleware.StaticFiles",
    "dsupport.middleware.ContentSecurityPolicy",
    "dsupport.middleware.ApiErrors",
    "dsupport.middleware.Sessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dsupport.middleware.StaffClock",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "dsupport.urls"
ASGI_APPLICATION = "dsupport.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]


def _database(url: str, *, pool: int) -> dict[str, Any]:
    config: dict[str, Any] = dict(
        dj_database_url.parse(url, conn_health_checks=True, engine="dsupport.lib.postgres")
    )
    config.setdefault("OPTIONS", {})
    if env.dsupport_db_prepare:
        config["OPTIONS"]["prepare_threshold"] = 2  # planning a run's statements costs most of them
    if pool:
        # A connection goes back between requests and before every model call, so a few serve
        # many threads. The pool and persistent connections exclude each other.
        config["CONN_MAX_AGE"] = 0
        config["OPTIONS"]["pool"] = {"min_size": 1, "max_size": pool, "timeout": 10}
    return config


# `default` is the application's role, which owns nothing. Migrations run as `owner`.
DATABASES = {
    "default": _database(env.database_url, pool=env.dsupport_db_pool),
    "owner": _database(env.database_owner_url or env.database_url, pool=0),
}
DATABASE_OWNER_URL = env.database_owner_url or env.database_url
DATABASE_ROUTERS = ["dsupport.lib.routers.OwnerMigrates"]

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.redis_url,
        "KEY_PREFIX": "dsupport",
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [env.redis_url], "prefix": "dsupport"},
    }
}

# Whoever signs in at the console without having been sent there comes to its first page.
LOGIN_REDIRECT_URL = "admin:index"
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.dsupport_https
SECURE_SSL_REDIRECT = env.dsupport_https
SECURE_HSTS_SECONDS = 31_536_000 if env.dsupport_https else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.dsupport_https else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = ["dsupport.formats"]
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
# Where an image has collected its files; a checkout serves them from where they are.
STATIC_ROOT = env.dsupport_static_root
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
WHITENOISE_AUTOREFRESH = DEBUG

LOGGING_CONFIG = "logging.config.dictConfig"
LOGGING = logging_config(env.dsupport_log_format, env.dsupport_log_level)

# --- Celery: a wake-up service; the database owns the work ----------------------------------
CELERY_BROKER_URL = env.redis_url
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "global_keyprefix": "dsupport:",
    # A customer's request waits for a broker that is away no longer than this; the sweeper sends.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.2,
    "socket_connect_timeout": 2,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_TIMEZONE = "UTC"
# Without a mail server, what would be sent is written into files.
EMAIL_BACKEND = (
    f"django.core.mail.backends.{'smtp' if env.email_host else 'filebased'}.EmailBackend"
)
EMAIL_FILE_PATH = DSUPPORT_DATA / "mail"
EMAIL_HOST = env.email_host
EMAIL_PORT = env.email_port
EMAIL_HOST_USER = env.email_user
EMAIL_HOST_PASSWORD = env.email_password
EMAIL_USE_TLS = env.email_tls == "starttls"
EMAIL_USE_SSL = env.email_tls == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.dsupport_email_from

CELERY_BEAT_SCHEDULE = {
    "sweep-runs": {"task": "agents.sweep_runs", "schedule": 5.0, "options": {"expires": 5}},
    "sweep-proposals": {"task": "approvals.sweep", "schedule": 10.0, "options": {"expires": 10}},
    "notify": {"task": "approvals.notify", "schedule": 10.0, "options": {"expires": 10}},
    "send-events": {"task": "approvals.send_events", "schedule": 10.0, "options": {"expires": 10}},
    "sweep-index": {"task": "knowledge.sweep_index", "schedule": 30.0, "options": {"expires": 30}},
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "DSupport",
    "SITE_HEADER": "DSupport",
    "SITE_SUBHEADER": "Support desk",
    "SITE_SYMBOL": "support_agent",
    "LOGIN": {"form": "dsupport.signin.StaffLoginForm"},
    "STYLES": [lambda request: static("desk/console.css")],
    "SCRIPTS": [lambda request: static("desk/console.js")],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "COLORS": {
        # A calm green of our own, light to dark, as the chat wears it.
        "primary": {
            "50": "#eef7f3",
            "100": "#d6ece3",
            "200": "#aedac9",
            "300": "#7fc8b4",
            "400": "#4da78f",
            "500": "#2f8872",
            "600": "#1f6a5a",
            "700": "#1a564a",
            "800": "#17453c",
            "900": "#133831",
            "950": "#0a201c",
        }
    },
    "DASHBOARD_CALLBACK": "agents.home.dashboard",
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": False,
        "navigation": "dsupport.navigation.sidebar",
    },
}
