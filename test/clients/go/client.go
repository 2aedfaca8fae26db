// What a team writes that makes its client with oapi-codegen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"example.org/client/lockstep"
	"github.com/google/uuid"
)

var (
	api *lockstep.ClientWithResponses
	ctx = context.Background()
)

// must ends the program: whoever runs it sees why.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// told is the answer of a status that the document promises.
func told[T any](answer *T, http *http.Response, body []byte) T {
	if answer == nil {
		panic(fmt.Sprintf("%s: %s", http.Status, body))
	}
	return *answer
}

func ptr[T any](value T) *T { return &value }

func payload(to string, value string) lockstep.PayloadDto {
	amount := lockstep.Quantity{}
	if err := amount.FromQuantity0(value); err != nil {
		panic(err)
	}
	return lockstep.PayloadDto{To: &to, Value: &amount}
}

func send(from, to, requestId, value string) uuid.UUID {
	body := lockstep.CreateTxDto{Signer: from, RequestId: &requestId, Payload: payload(to, value)}
	answer := must(api.CreateTxWithResponse(ctx, &lockstep.CreateTxParams{}, body))
	return told(answer.JSON202, answer.HTTPResponse, answer.Body).TxId
}

func wait(txId uuid.UUID, state lockstep.TxState) lockstep.TxDto {
	answer := must(api.GetTxWithResponse(ctx, txId, &lockstep.GetTxParams{WaitFor: &state, TimeoutMs: ptr(30_000)}))
	return told(answer.JSON200, answer.HTTPResponse, answer.Body)
}

func codeOf(txId uuid.UUID) string {
	answer := must(api.GetTxWithResponse(ctx, txId, &lockstep.GetTxParams{}))
	if problem := answer.ApplicationproblemJSON404; problem != nil {
		return string(problem.Code)
	}
	return "none"
}

// change runs while nothing is mined.
func change(from, to string) []lockstep.CommandKind {
	sent := func(requestId string) uuid.UUID {
		txId := send(from, to, requestId, "3")
		wait(txId, lockstep.TxStateINMEMPOOL)
		return txId
	}
	speedUp := lockstep.SpeedUpTxDto{RequestId: ptr("faster")}
	faster := must(api.SpeedUpTxWithResponse(ctx, sent("to-speed-up"), &lockstep.SpeedUpTxParams{}, speedUp))
	replace := lockstep.ReplaceTxDto{RequestId: ptr("replacement"), Payload: payload(to, "5")}
	replaced := must(api.ReplaceTxWithResponse(ctx, sent("to-replace"), &lockstep.ReplaceTxParams{}, replace))
	cancel := lockstep.CancelTxDto{}
	cancelled := must(api.CancelTxWithResponse(ctx, sent("to-cancel"), &lockstep.CancelTxParams{}, cancel))
	return []lockstep.CommandKind{
		told(faster.JSON202, faster.HTTPResponse, faster.Body).Kind,
		told(replaced.JSON202, replaced.HTTPResponse, replaced.Body).Kind,
		told(cancelled.JSON202, cancelled.HTTPResponse, cancelled.Body).Kind,
	}
}

func listAll() int {
	txs := 0
	for cursor := (*string)(nil); ; {
		answer := must(api.ListTxsWithResponse(ctx, &lockstep.ListTxsParams{Limit: ptr(2), Cursor: cursor}))
		page := told(answer.JSON200, answer.HTTPResponse, answer.Body)
		txs += len(page.Items)
		if cursor = page.NextCursor; cursor == nil {
			return txs
		}
	}
}

func webhook() string {
	types := []lockstep.PublicEventType{lockstep.PublicEventTypeTxConfirmed}
	body := lockstep.CreateWebhookDto{Url: "https://example.com/lockstep", Types: &types}
	created := must(api.CreateWebhookWithResponse(ctx, body))
	made := told(created.JSON201, created.HTTPResponse, created.Body)
	changed := must(api.UpdateWebhookWithResponse(ctx, made.Id, lockstep.ChangeWebhookDto{Description: ptr("ledger")}))
	told(changed.JSON200, changed.HTTPResponse, changed.Body)
	answer := must(api.GetWebhookWithResponse(ctx, made.Id))
	found := told(answer.JSON200, answer.HTTPResponse, answer.Body)
	must(api.DeleteWebhookWithResponse(ctx, made.Id))
	return *found.Description + " " + made.Secret[:6]
}

// paid has values that only the events of one type have, found by the type alone.
func paid() []lockstep.ReceiptStatus {
	params := lockstep.ListEventsParams{After: ptr("0-0-0"), Limit: ptr(100)}
	answer := must(api.ListEventsWithResponse(ctx, &params))
	statuses := []lockstep.ReceiptStatus{}
	for _, event := range told(answer.JSON200, answer.HTTPResponse, answer.Body).Items {
		if event, isReceipt := must(event.ValueByDiscriminator()).(lockstep.TxReceiptUpdatedEvent); isReceipt {
			statuses = append(statuses, event.Data.Receipt.Status)
		}
	}
	return statuses
}

func follow(from, to string) map[string]any {
	tx := wait(send(from, to, "first", "1"), lockstep.TxStateCONFIRMED)
	return map[string]any{
		"state":   tx.State,
		"status":  tx.Receipt.Status,
		"code":    codeOf(uuid.MustParse("019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b")),
		"listed":  listAll(),
		"webhook": webhook(),
		"paidFor": paid()[0],
	}
}

func main() {
	url, key, from, to, part := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	api = must(lockstep.NewClientWithResponses(url, lockstep.WithRequestEditorFn(authorize)))
	var result any
	if part == "change" {
		result = change(from, to)
	} else {
		result = follow(from, to)
	}
	fmt.Print(string(must(json.Marshal(result))))
}
