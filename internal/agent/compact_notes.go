package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// byCode is the By of notes where no model's were taken: what the log proves
// stands alone.
const byCode = "code"

// A judgement is what a model wrote of the stretch that is compacted.
type judgement struct {
	notes   []event.Note
	found   []event.Constrained // what the person forbade or required, in their words
	by      string
	refused []string
	usage   model.Usage
	cost    int64
}

// errUseless reports that no answer was one: the model is not asked about what is
// left.
var errUseless = errors.New("no answer was of any use")

// errFell reports that the fallback speaks from now on: what it takes is another
// matter.
var errFell = errors.New("another model goes on")

// takeNotes asks the model for notes on what is compacted, up to an event. What it
// writes is held against the log; what does not hold is asked for once more, and
// then left out. Where it cannot be asked, or does not answer, code alone keeps the
// record. Only the end of ctx, the journal and errFell are errors.
func (a *Agent) takeNotes(ctx context.Context, q squeeze, through int64) (judgement, error) {
	j := judgement{by: byCode}
	if q.alone {
		return j, nil
	}
	for _, request := range prompt.Handoff(a.state, through, q.hint, q.piece) {
		if err := a.noteOn(ctx, &j, request, through); err != nil {
			if ctx.Err() != nil {
				return j, context.Cause(ctx)
			}
			if fell, err := a.reachable(err); fell || err != nil {
				return j, cmp.Or(err, errFell)
			}
			if !errors.Is(err, errUseless) { // which is said already
				j.refused = append(j.refused, err.Error())
			}
			break
		}
	}
	for i := range j.notes {
		j.notes[i].ID = a.state.NextNote(i)
	}
	if len(j.notes) > 0 {
		j.by = a.speaker().Model.Name
	}
	return j, nil
}

// reachable lets the fallback speak where err is that the model cannot be reached,
// and reports whether it does. Its error is the journal's.
func (a *Agent) reachable(err error) (fell bool, _ error) {
	if _, ok := errors.AsType[*model.Unavailable](err); !ok || a.Fallback == nil || a.fell {
		return false, nil
	}
	fell, err = a.fallBack(err)
	if fell {
		return true, nil
	}
	return false, err
}

// noteOn adds what the model writes of one piece.
func (a *Agent) noteOn(ctx context.Context, j *judgement, request *model.Request, through int64) error {
	reply, err := a.consult(ctx, j, request)
	if err != nil {
		return err
	}
	read := prompt.ReadHandoff(a.state, through, reply)
	j.refused = append(j.refused, read.Complaints...)
	if len(read.Complaints) > 0 && reply.Stop != model.Refused {
		second, err := a.complain(ctx, j, request, reply, read, through)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			second.Complaints = []string{err.Error()}
		}
		j.refused = append(j.refused, second.Complaints...)
		if len(second.Notes)+len(second.Constraints) >= len(read.Notes)+len(read.Constraints) {
			read = second
		}
	}
	for _, n := range read.Notes {
		if !prompt.Has(j.notes, n) {
			j.notes = append(j.notes, n)
		}
	}
	j.found = append(j.found, read.Constraints...)
	if read.Useless {
		return errUseless
	}
	return nil
}

// complain asks once more for what did not hold. An answer that was none is not
// quoted: it may be longer than what it is about.
func (a *Agent) complain(ctx context.Context, j *judgement, request *model.Request, reply model.Reply, read prompt.Reading, through int64) (prompt.Reading, error) {
	again := *request
	again.Messages = slices.Clone(request.Messages)
	why := strings.Join(read.Complaints, "\n")
	if read.Useless {
		last := &again.Messages[len(again.Messages)-1]
		last.Parts = append(slices.Clone(last.Parts), model.Text{Text: "You were asked before, and " + why + ". Write the JSON object and nothing else, and keep it short."})
	} else {
		said := model.Text{Text: strings.TrimSpace(reply.Message.Text())}
		complaint := model.Text{Text: "This does not hold:\n" + why + "\nWrite the whole object again, without what does not hold."}
		again.Messages = append(again.Messages,
			model.Message{Role: model.Assistant, Parts: []model.Part{said}}, model.Message{Role: model.User, Parts: []model.Part{complaint}})
	}
	second, err := a.consult(ctx, j, &again)
	if err != nil {
		return prompt.Reading{}, err
	}
	return prompt.ReadHandoff(a.state, through, second), nil
}

// consult asks the model something beside the steps of a turn. The request is
// recorded; of the reply nothing is shown.
func (a *Agent) consult(ctx context.Context, j *judgement, r *model.Request) (reply model.Reply, err error) {
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	info := a.speaker().Model
	r.Model = info.Name
	if info.MaxOutput > 0 {
		r.MaxOutput = min(r.MaxOutput, info.MaxOutput)
	}
	r.Open = a.Journal.Artifact
	sheet, err := a.sent.next(r)
	if err != nil {
		return reply, err
	}
	r.Tokens = sheet.estimate()
	if err := a.send(r, sheet); err != nil {
		return reply, err
	}
	for delta, err := range a.speaker().Provider.Stream(ctx, r) {
		if err != nil {
			return reply, err
		}
		switch d := delta.(type) {
		case model.Waiting:
			a.observe(Typing{d})
		case model.Reply:
			reply = d
		}
	}
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	if reply.Stop == "" {
		return reply, &model.Unavailable{Err: errors.New("the provider's stream ended without a reply")}
	}
	j.usage = j.usage.Plus(reply.Usage)
	j.cost += info.Cost(reply.Usage)
	return reply, nil
}
