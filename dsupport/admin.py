"""The desk itself in the console: shops, who works there, switches, keys, accounts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from approvals.services import known_switches, record, set_switch
from dsupport.contract.errors import DomainError
from dsupport.keys import issue_key, revoke_key
from dsupport.lib import clock
from dsupport.lib.readonly_admin import ReadOnlyAdmin, memberships_of, pretty_json
from dsupport.models import ApiKey, Membership, Switch, Tenant

_ON_OFF = {"on": "success", "off": "danger"}


class _ServiceForms(ReadOnlyAdmin):
    """A list whose forms are sent to a service, which decides and records."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except DomainError as error:
            self.message_user(request, error.message, messages.ERROR)
            return HttpResponseRedirect(request.path)
        return response

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """Offer the shops that the person works for."""
        shops = self.shop_ids(request)
        if db_field.name == "tenant" and shops is not None:
            kwargs["queryset"] = Tenant.objects.filter(pk__in=shops)
        field: ModelChoiceField[Any] | None = super().formfield_for_foreignkey(
            db_field, request, **kwargs
        )
        return field


@admin.register(Tenant)
class TenantAdmin(ReadOnlyAdmin):
    tenant_path = "pk"
    list_display = ("name", "slug", "timezone", "currency", "return_window_days")
    fields = (
        "name",
        "slug",
        "tagline",
        "mark",
        "timezone",
        "currency",
        "return_window_days",
        "hours",
        "days_off",
        "starters",
        "sites",
    )
    readonly_fields = ("hours", "days_off", "starters", "sites")

    @admin.display(description="Opening hours")
    def hours(self, tenant: Tenant) -> str:
        return pretty_json(tenant.opening_hours)

    @admin.display(description="Holidays")
    def days_off(self, tenant: Tenant) -> str:
        return pretty_json(tenant.holidays)

    @admin.display(description="Starter questions")
    def starters(self, tenant: Tenant) -> str:
        return pretty_json(tenant.starter_questions)

    @admin.display(description="Sites that may show the chat")
    def sites(self, tenant: Tenant) -> str:
        return ", ".join(tenant.allowed_sites) or "None yet: manage.py widget allow SITE"


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("user", "role", "tenant")
    list_filter = ("role",)
    list_select_related = ("user", "tenant")


class SwitchForm(forms.ModelForm):
    class Meta:
        model = Switch
        fields = ("name", "tenant", "off", "reason")

    def clean(self) -> dict[str, Any]:
        """Take up the row of a name that is set already, in place of refusing a second one."""
        given: dict[str, Any] = super().clean() or {}
        name, tenant = given.get("name"), given.get("tenant")
        if self.instance.pk is None and name:
            self.instance = Switch.objects.filter(name=name, tenant=tenant).first() or self.instance
        return given


@admin.register(Switch)
class SwitchAdmin(_ServiceForms):
    form = SwitchForm
    list_display = ("name", "state", "reach", "reason", "changed_by", "changed_at")
    list_select_related = ("tenant",)
    list_filter = ("off",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add the whole system's switches, which bear on every shop."""
        shops = self.shop_ids(request)
        rows: QuerySet[Any] = Switch.objects.select_related("tenant").order_by("name", "tenant")
        if shops is None:
            return rows
        return rows.filter(tenant=None) | rows.filter(tenant__in=shops)

    # Who may switch what is for the service to say; the forms are there for all who may look.
    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_view_permission(request, obj)

    def get_readonly_fields(self, _request: HttpRequest, obj: Model | None = None) -> Any:
        return ("name", "tenant") if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        if "name" in form.base_fields:
            form.base_fields["name"].help_text = f"{', '.join(known_switches())} or tool:NAME"
            form.base_fields["tenant"].help_text = "Empty: the whole system"
        form.base_fields["reason"].initial = ""
        return form

    def save_model(self, request: HttpRequest, obj: Switch, _form: Any, _change: bool) -> None:
        switch = set_switch(
            name=obj.name,
            off=obj.off,
            tenant=obj.tenant,
            by=request.user,
            reason=obj.reason,
            now=clock.now(),
        )
        obj.pk = switch.pk

    @display(description="State", label=_ON_OFF)
    def state(self, switch: Switch) -> str:
        return "off" if switch.off else "on"

    @admin.display(description="Where")
    def reach(self, switch: Switch) -> str:
        return str(switch.tenant) if switch.tenant else "Whole system"


@admin.register(ApiKey)
class ApiKeyAdmin(_ServiceForms):
    view_roles = frozenset({Membership.Role.ADMIN, Membership.Role.AUDITOR})
    list_display = ("name", "shown_hint", "tenant", "created_by", "created_at", "revoked_at")
    list_select_related = ("tenant",)
    fields = ("name", "tenant", "shown_hint", "created_by", "created_at", "revoked_at")
    readonly_fields = ("shown_hint", "created_by", "created_at", "revoked_at")
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        user: Any = request.user
        held = {role for _, role in memberships_of(request)}
        return bool(user.is_active and user.is_staff) and (
            user.is_superuser or Membership.Role.ADMIN in held
        )

    def get_fields(self, _request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields if obj else ("name", "tenant")

    def save_model(self, request: HttpRequest, obj: ApiKey, _form: Any, _change: bool) -> None:
        key, secret = issue_key(tenant=obj.tenant, name=obj.name, by=request.user, now=clock.now())
        obj.pk = key.pk
        self.message_user(
            request, f"Copy the key now, it is not shown again: {secret}", messages.WARNING
        )

    @admin.action(description="Revoke the selected keys")
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiKey]) -> None:
        for key_id in rows.values_list("pk", flat=True):
            try:
                key = revoke_key(key_id=key_id, by=request.user, now=clock.now())
            except DomainError as error:
                self.message_user(request, error.message, messages.ERROR)
            else:
                self.message_user(request, f"{key} is revoked.", messages.SUCCESS)

    @admin.display(description="Ends in")
    def shown_hint(self, key: ApiKey) -> str:
        return f"…{key.hint}"


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class AccountAdmin(UserAdmin, ModelAdmin):
    """Accounts of staff, kept by superusers; each change is in the audit chain."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "first_name", "last_name", "is_staff", "is_superuser", "is_active")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    list_filter = ("is_staff", "is_superuser", "is_active")
    filter_horizontal = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._is_keeper(request)

    def has_view_permission(self, request: HttpRequest, _obj: Any = None) -> bool:
        return self._is_keeper(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._is_keeper(request)

    def has_change_permission(self, request: HttpRequest, _obj: Any = None) -> bool:
        return self._is_keeper(request)

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False  # an account that is gone is made inactive; its name stays readable

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._record(request, obj, "staff.added", message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._record(request, obj, "staff.changed", message)
        return super().log_change(request, obj, message)

    def _record(self, request: HttpRequest, account: User, kind: str, message: Any) -> None:
        record(
            tenant_id=None,
            kind=kind,
            actor=f"staff:{request.user.get_username()}",
            subject=f"staff:{account.get_username()}",
            detail={"what": message},
            now=clock.now(),
        )

    @staticmethod
    def _is_keeper(request: HttpRequest) -> bool:
        return request.user.is_active and bool(request.user.is_superuser)
