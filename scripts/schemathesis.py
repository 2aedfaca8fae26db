"""Checks of schemathesis that know our codes. `scripts/schemathesis.mjs` runs it."""

import json
import os
import uuid

import schemathesis

# What a schema can say. Every other code is about the meaning of a request: ids that do not exist, fields that exclude each other.
FORM = {"invalid_request", "unknown_field", "malformed_json", "invalid_address", "invalid_chain_id", "invalid_hex"}

# Of `timeoutMs`; what is longer is refused.
LONGEST_WAIT_MS = 60_000

# What ends a key. The ids of keys are read of answers, and that of the key which all requests carry is one of them.
ENDS_A_KEY = {"/api/v1/keys/{id}/revoke", "/api/v1/keys/{id}/rotate"}


@schemathesis.check
def form_as_documented(ctx, response, case):
    """What is valid by the document may be refused for its meaning only."""
    meta = case.meta
    if response.status_code != 400 or meta is None or not meta.generation.mode.is_positive:
        return
    problem = response.json()
    # JSON of clients (`metadata`) may have other keys at any depth, and a schema cannot say so. Its description does.
    body = json.dumps(case.body, default=str)
    if problem["code"] == "malformed_json" and ('"__proto__"' in body or '"constructor"' in body and '"prototype"' in body):
        return
    assert problem["code"] not in FORM, f"valid by the document: {problem}"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Ends no key that is needed. Waits for a state that may never come are short, so that no request takes longer than its timeout."""
    key = str((case.path_parameters or {}).get("id", "")).replace("-", "").lower()
    if case.operation.path in ENDS_A_KEY and key in os.environ["KEY_IN_USE"]:
        case.path_parameters["id"] = str(uuid.uuid4())
    query = case.query or {}
    wait = query.get("timeoutMs", LONGEST_WAIT_MS)
    if "waitFor" in query and isinstance(wait, int) and 1_000 < wait <= LONGEST_WAIT_MS:
        query["timeoutMs"] = 1_000
