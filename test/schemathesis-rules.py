"""Refusals that schemathesis takes for failures because no JSON schema can say what they depend on."""

import re
from typing import NamedTuple

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData


class Refusal(NamedTuple):
    """A valid-looking request may be refused so. `field` and `message` are patterns that match as a whole."""

    why: str
    operations: set[str]
    code: str
    message: str
    field: str = ""
    status: int = 400


BACKFILL = {"POST /api/gateways/{gateway}/backfill"}
DAYS = {
    "GET /api/reconciliation",
    "GET /api/reconciliation.csv",
    "GET /api/settlements",
    "GET /api/settlements.csv",
}
OPERATE = {"POST /api/ledger/operate"}
RESOLVE = {"POST /api/payments/{gateway}/{gateway_payment_id}/resolve"}
REFERENCE = {
    "DELETE /api/references/{gateway}/{kind}/{value}",
    "PUT /api/references/{gateway}/{kind}/{value}",
}
PAYMENTS = {"GET /api/payments", "GET /api/payments/summary"}
PASSWORDS = {"POST /api/account/password", "POST /api/account/register"}
MIGRATION = {"POST /api/migration/upload"}
STATEMENT = {"POST /api/gateways/{gateway}/statement"}

REFUSALS = [
    Refusal(
        "which keys were used before",
        OPERATE,
        "IDEMPOTENCY_KEY_REUSED",
        "This Idempotency-Key has already been used with a different body: a corrected operation needs a new key",
        status=422,
    ),
    Refusal(
        "what the payment was when it was read",
        {
            "POST /api/payments/{gateway}/{gateway_payment_id}/assign",
            "POST /api/payments/{gateway}/{gateway_payment_id}/resolve",
        },
        "PRECONDITION_FAILED",
        "The payment has changed since you read it: read it again, then decide",
        status=412,
    ),
    Refusal(
        "one member that is a multiple of another",
        OPERATE,
        "INVALID_PAYLOAD",
        r"must be a multiple of numberOfRepayments: \d+ is no multiple of \d+",
        "/data/loanTermFrequency",
    ),
    Refusal(
        "how many digits a number has",
        OPERATE | RESOLVE,
        "INVALID_PAYLOAD",
        r"has \d+ (decimals, but at most 2|significant digits, but at most 15) are kept|must be above 0",
        "/data/principal|/data/transactionAmount|/amount",
    ),
    Refusal(
        "which amount was captured",
        RESOLVE,
        "INVALID_PAYLOAD",
        r"must be at most [\d.]+, the captured amount",
        "/amount",
    ),
    Refusal(
        "whether anything changes, where null counts as absent",
        OPERATE,
        "INVALID_PAYLOAD",
        "must be an object with externalId and at least one of .+",
        "/data",
    ),
    Refusal(
        "which passwords are guessed first",
        PASSWORDS,
        "INVALID_PAYLOAD",
        "must not be (the username|the old password|one character repeated|a common password)",
        "/password|/new_password",
    ),
    Refusal(
        "what time it is",
        {"POST /api/ledger/pause"},
        "INVALID_PAYLOAD",
        "must be in the future",
        "/until",
    ),
    Refusal(
        "the order of two days",
        PAYMENTS | DAYS,
        "INVALID_QUERY",
        r"must not be after \d{4}-\d\d-\d\d",
        "/from",
    ),
    Refusal(
        "the distance of two days, or of one day from today",
        DAYS,
        "INVALID_QUERY",
        "must be less than 366 days after from",
        "/to",
    ),
    Refusal(
        "the order of two times in a query",
        {"GET /api/callbacks"},
        "INVALID_QUERY",
        "must not be after .+",
        "/from",
    ),
    Refusal(
        "the order of two times in a body",
        {"POST /api/callbacks/replay"},
        "INVALID_PAYLOAD",
        "must not be after .+",
        "/from",
    ),
    Refusal(
        "the order and the distance of two times",
        BACKFILL,
        "INVALID_PAYLOAD",
        "must not be before from|must be at most 62 days after from",
        "/to",
    ),
    Refusal(
        "a member that only a dry run has",
        {"POST /api/migration/run"},
        "INVALID_PAYLOAD",
        "is only for a dry run: a run starts at once",
        "/after",
    ),
    Refusal(
        "the order of an upload's parts",
        MIGRATION,
        "INVALID_PAYLOAD",
        "is required before the file: loans or repayments",
        "/type",
    ),
    Refusal(
        "whether a program changed an id on its way",
        REFERENCE,
        "INVALID_QUERY",
        r"(has|is|begins|contains) .+: .+",
        "/value",
    ),
    Refusal(
        "what an id is without the blanks at its ends",
        REFERENCE,
        "INVALID_QUERY",
        "is only dots|must not be empty",
        "/value",
    ),
    Refusal(
        "the order of two days in a body",
        REFERENCE,
        "INVALID_PAYLOAD",
        "must not be before valid_from",
        "/valid_until",
    ),
    Refusal(
        "the contents of a file",
        MIGRATION | STATEMENT | {"POST /api/references/upload"},
        "INVALID_PAYLOAD",
        r"The file (is .+|has no rows below its header)|This is .+|Line \d+(, (column|character) .+)?: .+",
        "/file",
    ),
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops a failure only if each reason that the answer gives is one of those above, or a length in code units, or trimmed."""
    if isinstance(failure, AcceptedNegativeData):
        return not (has_blank_end(case.body) or has_blank_end(case.query))
    if not isinstance(failure, RejectedPositiveData):
        return True
    problem = response.json()
    reasons = problem.get("errors") or [{"path": "", "message": problem["detail"]}]
    return not all(
        is_known(case.operation.label, problem, reason) or is_long_in_code_units(case, problem, reason)
        for reason in reasons
    )


def has_blank_end(value):
    """A schema counts the blanks at the ends of a text. They are trimmed before anything is checked."""
    if isinstance(value, dict):
        return any(has_blank_end(member) for member in value.values())
    return isinstance(value, str) and value != value.strip()


def is_known(operation, problem, reason):
    return any(
        operation in known.operations
        and (problem["status"], problem["code"]) == (known.status, known.code)
        and re.fullmatch(known.field, reason["path"])
        and re.fullmatch(known.message, reason["message"], re.DOTALL)
        for known in REFUSALS
    )


def is_long_in_code_units(case, problem, reason):
    """A schema counts characters. The ledger, written in Java, counts UTF-16 code units, and so do we."""
    limit = re.fullmatch(r"must be a.* of 1 to (\d+) characters", reason["message"])
    if limit is None or problem["code"] not in ("INVALID_PAYLOAD", "INVALID_QUERY"):
        return False
    value = case.query if problem["code"] == "INVALID_QUERY" else case.body
    for name in reason["path"].split("/")[1:]:
        if not isinstance(value, dict):
            return False
        value = value.get(name)
    if not isinstance(value, str):
        return False
    return len(value) <= int(limit[1]) < len(value.encode("utf-16-le")) // 2
