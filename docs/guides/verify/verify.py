import base64
import hashlib
import hmac
import re
import time

TOLERANCE_SECONDS = 300


def verify(headers, body, secret, now=None):
    """`body`: the bytes as they came."""
    message_id = headers.get("webhook-id")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature")
    if not message_id or not re.fullmatch(r"[0-9]+", timestamp) or not signatures:
        return False
    now = int(time.time()) if now is None else now
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False

    key = base64.b64decode(secret[len("whsec_"):])
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(entry.encode(), expected) for entry in signatures.split(" "))
