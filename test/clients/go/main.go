// Drives one loan with the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/client/loanops"
)

var ctx = context.Background()

func main() {
	client, err := loanops.NewClientWithResponses(os.Getenv("LOANOPS_URL"), loanops.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("X-Internal-Token", os.Getenv("LOANOPS_TOKEN"))
			return nil
		}))
	check(err)

	var request loanops.OperateRequest
	email := "asha@example.in"
	check(request.FromClientCreateRequest(loanops.ClientCreateRequest{Data: loanops.ClientCreateData{
		ExternalId: "C-go", Firstname: "Asha", Lastname: "Rao", ActivationDate: "05 January 2026", EmailAddress: &email,
	}}))
	operate(client, request)
	check(request.FromLoanCreateRequest(loanops.LoanCreateRequest{Data: loanops.LoanCreateData{
		LenderConfig: "LENDER_02", ExternalId: "L-go", ClientId: "C-go", Principal: 1234567.89,
		SubmittedOnDate: "10 January 2026", LoanTermFrequency: 12, NumberOfRepayments: 12, InterestRatePerPeriod: 18,
	}}))
	operate(client, request)
	check(request.FromLoanApproveRequest(loanops.LoanApproveRequest{Data: loanops.LoanApproveData{
		ExternalLoanId: "L-go", ApprovedOnDate: "12 January 2026",
	}}))
	operate(client, request)
	utr := "UTR-go"
	check(request.FromLoanDisburseRequest(loanops.LoanDisburseRequest{Data: loanops.LoanDisburseData{
		ExternalLoanId: "L-go", ActualDisbursementDate: "13 January 2026", UtrPaymentId: &utr,
	}}))
	operate(client, request)

	unknown, err := client.TrackOperationWithResponse(ctx, "LOAN_APPROVE|019a0000-0000-7000-8000-000000000000", nil)
	check(err)
	if unknown.ApplicationproblemJSON404 == nil || unknown.ApplicationproblemJSON404.Code != "UNKNOWN_TRACKING_ID" {
		log.Fatalf("an unknown tracking id is answered with %s", unknown.Body)
	}
}

func operate(client *loanops.ClientWithResponses, request loanops.OperateRequest) {
	accepted, err := client.SubmitOperationWithResponse(ctx, nil, request)
	check(err)
	if accepted.JSON202 == nil {
		log.Fatalf("not accepted: %s", accepted.Body)
	}
	wait := int32(30)
	tracked, err := client.TrackOperationWithResponse(ctx, accepted.JSON202.TrackingId, &loanops.TrackOperationParams{Wait: &wait})
	check(err)
	if tracked.JSON200 == nil {
		log.Fatalf("not tracked: %s", tracked.Body)
	}
	if tracked.JSON200.Status != loanops.TrackingRecordStatusSuccess {
		log.Fatalf("did not succeed: %s", tracked.Body)
	}
	fmt.Println(*tracked.JSON200.OperationType, tracked.JSON200.Status)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
