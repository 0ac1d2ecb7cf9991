"""A password hasher that counts how often it works."""

from __future__ import annotations

from django.contrib.auth.hashers import MD5PasswordHasher

work: list[str] = []


class CountingHasher(MD5PasswordHasher):
    algorithm = "counting"

    def encode(self, password: str, salt: str) -> str:
        work.append(salt)
        return super().encode(password, salt)
