import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.MigrationApi;
import org.openapitools.client.api.OperationsApi;
import org.openapitools.client.model.*;

/** Drives one loan with the client that openapi-generator makes. */
public class Drive {
  static final ApiClient CLIENT =
      Connection.open(System.getenv("LOANOPS_URL"), System.getenv("LOANOPS_TOKEN"));
  static final OperationsApi API = new OperationsApi(CLIENT);

  public static void main(String[] libraries) throws Exception {
    String client = "C-java-" + libraries[0];
    String loan = "L-java-" + libraries[0];
    operate(new OperateRequest(new ClientCreateRequest()
        .status(ClientCreateRequest.StatusEnum.CLIENT_CREATE)
        .data(new ClientCreateData().externalId(client).firstname("Asha").lastname("Rao")
            .activationDate("05 January 2026").emailAddress("asha@example.in"))));
    operate(new OperateRequest(new LoanCreateRequest()
        .status(LoanCreateRequest.StatusEnum.LOAN_CREATE)
        .data(new LoanCreateData().lenderConfig(LoanCreateData.LenderConfigEnum.LENDER_02)
            .externalId(loan).clientId(client).principal(1234567.89)
            .submittedOnDate("10 January 2026").loanTermFrequency(12).numberOfRepayments(12)
            .interestRatePerPeriod(18.0))));
    operate(new OperateRequest(new LoanApproveRequest()
        .status(LoanApproveRequest.StatusEnum.LOAN_APPROVE)
        .data(new LoanApproveData().externalLoanId(loan).approvedOnDate("12 January 2026"))));
    operate(new OperateRequest(new LoanDisburseRequest()
        .status(LoanDisburseRequest.StatusEnum.LOAN_DISBURSE)
        .data(new LoanDisburseData().externalLoanId(loan)
            .actualDisbursementDate("13 January 2026").utrPaymentId("UTR-java"))));
    trackUnknown();
    if (new MigrationApi(CLIENT).getMigrationTemplate("loans").length() == 0)
      throw new IllegalStateException("the template of a file has no bytes");
  }

  static void operate(OperateRequest request) throws ApiException {
    OperateResponse accepted = API.submitOperation(request, null);
    TrackingRecord record = API.trackOperation(accepted.getTrackingId(), 30);
    if (record.getStatus() != TrackingRecord.StatusEnum.SUCCESS)
      throw new IllegalStateException("did not succeed: " + record);
    System.out.println(record.getOperationType() + " " + record.getStatus());
  }

  static void trackUnknown() {
    try {
      API.trackOperation("LOAN_APPROVE|019a0000-0000-7000-8000-000000000000", null);
      throw new IllegalStateException("an unknown tracking id was found");
    } catch (ApiException refused) {
      if (refused.getCode() != 404 || !refused.getResponseBody().contains("UNKNOWN_TRACKING_ID"))
        throw new IllegalStateException(refused);
    }
  }
}
