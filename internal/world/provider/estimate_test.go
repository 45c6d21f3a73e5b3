package provider

import (
	"fmt"
	"math"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// A server that counts nonsense must not make a limit of tokens or cost recede.
func TestUsageIsNeverNegativeNorBeyondBelief(t *testing.T) {
	dear := model.Price{Input: maxPrice, Cached: maxPrice, CacheWrite: maxPrice, Output: maxPrice}
	chat := func(u string) string {
		return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n" +
			"data: {\"choices\":[],\"usage\":" + u + "}\n\ndata: [DONE]\n\n"
	}
	for _, usage := range []string{
		`{"prompt_tokens":-5000000000000,"completion_tokens":1}`,
		`{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`,
		`{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-9}}`,
		`{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9223372036854775807}}`,
		`{"prompt_tokens":0,"completion_tokens":0}`,
		`{"prompt_tokens":-9223372036854775808,"completion_tokens":-9223372036854775808}`,
	} {
		t.Run(usage, func(t *testing.T) {
			p, _ := served(t, modeltest.Chat(), nil, modeltest.Response{Body: chat(usage)})
			h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
			if h.Reply == nil {
				t.Fatal(h.Err)
			}
			u := h.Reply.Usage
			for _, n := range []int{u.Input, u.Cached, u.CacheWrite, u.Output, u.Reasoning} {
				if n < 0 || n > maxTokens {
					t.Errorf("counted %+v", u)
				}
			}
			if u.Total() <= 0 || dear.Cost(u) <= 0 {
				t.Errorf("%+v is free: %d tokens, cost %d", u, u.Total(), dear.Cost(u))
			}
		})
	}
	most := counted(model.Usage{Input: math.MaxInt, Cached: math.MaxInt, CacheWrite: math.MaxInt, Output: math.MaxInt}, nil, nil)
	if got, want := fmt.Sprint(most.Total(), dear.Cost(most)), fmt.Sprint(4*maxTokens, int64(8e12)); got != want {
		t.Errorf("the most is %s, want %s", got, want)
	}
}
