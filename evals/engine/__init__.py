"""What the engine costs beside a bare loop on a vendor's SDK."""
