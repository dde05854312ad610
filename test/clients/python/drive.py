"""Drives one loan with the client that openapi-python-client makes."""

import os
import sys

from loanops import Client
from loanops import models
from loanops.api.operations import submit_operation, track_operation

client = Client(
    base_url=os.environ["LOANOPS_URL"],
    headers={"X-Internal-Token": os.environ["LOANOPS_TOKEN"]},
    timeout=60,
)


def operate(request):
    accepted = submit_operation.sync(client=client, body=request)
    if not isinstance(accepted, models.OperateResponse):
        sys.exit(f"not accepted: {accepted}")
    record = track_operation.sync(accepted.tracking_id, client=client, wait=30)
    if record.status != models.TrackingRecordStatus.SUCCESS:
        sys.exit(f"did not succeed: {record}")
    print(record.operation_type, record.status.value)


operate(
    models.ClientCreateRequest(
        status=models.ClientCreateRequestStatus.CLIENT_CREATE,
        data=models.ClientCreateData(
            external_id="C-python",
            firstname="Asha",
            lastname="Rao",
            activation_date="05 January 2026",
            email_address="asha@example.in",
        ),
    )
)
operate(
    models.LoanCreateRequest(
        status=models.LoanCreateRequestStatus.LOAN_CREATE,
        data=models.LoanCreateData(
            lender_config=models.LoanCreateDataLenderConfig.LENDER_02,
            external_id="L-python",
            client_id="C-python",
            principal=1234567.89,
            submitted_on_date="10 January 2026",
            loan_term_frequency=12,
            number_of_repayments=12,
            interest_rate_per_period=18,
        ),
    )
)
operate(
    models.LoanApproveRequest(
        status=models.LoanApproveRequestStatus.LOAN_APPROVE,
        data=models.LoanApproveData(external_loan_id="L-python", approved_on_date="12 January 2026"),
    )
)
operate(
    models.LoanDisburseRequest(
        status=models.LoanDisburseRequestStatus.LOAN_DISBURSE,
        data=models.LoanDisburseData(
            external_loan_id="L-python",
            actual_disbursement_date="13 January 2026",
            utr_payment_id="UTR-python",
        ),
    )
)

unknown = track_operation.sync("LOAN_APPROVE|019a0000-0000-7000-8000-000000000000", client=client)
if not isinstance(unknown, models.Problem) or unknown.code != "UNKNOWN_TRACKING_ID":
    sys.exit(f"an unknown tracking id is answered with {unknown}")
