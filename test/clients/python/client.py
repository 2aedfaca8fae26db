"""What a team writes that makes its client with openapi-python-client: checked by `mypy --strict`, without one cast."""

import json
import sys
from typing import TypeVar
from uuid import UUID

from lockstep_client import AuthenticatedClient
from lockstep_client.api.changes import cancel_tx, replace_tx, speed_up_tx
from lockstep_client.api.events import list_events
from lockstep_client.api.transactions import create_tx, get_tx, list_txs
from lockstep_client.api.webhooks import create_webhook, delete_webhook, get_webhook, update_webhook
from lockstep_client.models import (
    ChangeWebhookDto,
    CreateTxDto,
    CreateWebhookDto,
    PayloadDto,
    ProblemDto,
    PublicEventType,
    ReceiptDto,
    ReplaceTxDto,
    SpeedUpTxDto,
    TxDto,
    TxReceiptUpdatedEvent,
    TxState,
)
from lockstep_client.types import UNSET, Unset

_, BASE_URL, KEY, FROM, TO, PART = sys.argv
API = AuthenticatedClient(base_url=BASE_URL, token=KEY, timeout=None)
T = TypeVar("T")


def told(answer: T | ProblemDto | None) -> T:
    if answer is None:
        raise RuntimeError("an answer that the document does not have")
    if isinstance(answer, ProblemDto):
        raise RuntimeError(f"{answer.code}: {answer.advice}")
    return answer


def send(request_id: str, value: str | int) -> UUID:
    payload = PayloadDto(to=TO, value=value)
    body = CreateTxDto(signer=FROM, request_id=request_id, payload=payload)
    return told(create_tx.sync(client=API, body=body)).tx_id


def wait(tx_id: UUID, state: TxState) -> TxDto:
    return told(get_tx.sync(tx_id, client=API, wait_for=state, timeout_ms=30_000))


def sent(request_id: str) -> UUID:
    tx_id = send(request_id, 3)
    wait(tx_id, TxState.IN_MEMPOOL)
    return tx_id


def code_of(tx_id: UUID) -> str:
    answer = get_tx.sync(tx_id, client=API)
    return answer.code if isinstance(answer, ProblemDto) else "none"


def change() -> list[str]:
    """Nothing is mined meanwhile."""
    faster = SpeedUpTxDto(request_id="faster")
    other = ReplaceTxDto(request_id="replacement", payload=PayloadDto(to=TO, value="5"))
    return [
        told(speed_up_tx.sync(sent("to-speed-up"), client=API, body=faster)).kind.value,
        told(replace_tx.sync(sent("to-replace"), client=API, body=other)).kind.value,
        told(cancel_tx.sync(sent("to-cancel"), client=API)).kind.value,
    ]


def list_all() -> int:
    cursor: str | Unset = UNSET
    txs = 0
    while True:
        page = told(list_txs.sync(client=API, limit=2, cursor=cursor))
        txs += len(page.items)
        if page.next_cursor is None:
            return txs
        cursor = page.next_cursor


def webhook() -> str:
    types = [PublicEventType.TX_CONFIRMED]
    made = told(create_webhook.sync(client=API, body=CreateWebhookDto(url="https://example.com/lockstep", types=types)))
    told(update_webhook.sync(made.id, client=API, body=ChangeWebhookDto(description="ledger")))
    found = told(get_webhook.sync(made.id, client=API))
    delete_webhook.sync_detailed(made.id, client=API)
    return f"{found.description} {made.secret[:6]}"


def paid() -> list[str]:
    """Values that only the events of one type have, found by the type alone."""
    page = told(list_events.sync(client=API, after="0-0-0", limit=100))
    return [event.data.receipt.status.value for event in page.items if isinstance(event, TxReceiptUpdatedEvent)]


def follow() -> dict[str, object]:
    tx = wait(send("first", "1"), TxState.CONFIRMED)
    return {
        "state": tx.state.value,
        "status": tx.receipt.status.value if isinstance(tx.receipt, ReceiptDto) else None,
        "code": code_of(UUID("019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b")),
        "listed": list_all(),
        "webhook": webhook(),
        "paidFor": paid()[0],
    }


print(json.dumps(change() if PART == "change" else follow()))
