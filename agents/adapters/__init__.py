"""The models behind the port: vendors, the offline rules, and fakes for tests."""
