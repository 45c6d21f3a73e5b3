package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

//go:embed todo.md
var todoDescription string

// maxTodo is how many entries a list may have, and maxTodoText how many bytes
// each.
const (
	maxTodo     = 50
	maxTodoText = 500
)

type todoArgs struct {
	Items []todoItem `json:"items"`
}

type todoItem struct {
	Text  string `json:"text"`
	State string `json:"state" enum:"pending,active,done"`
}

type todoData struct {
	Items   []todoItem `json:"items"`
	Pending int        `json:"pending"`
	Active  int        `json:"active"`
	Done    int        `json:"done"`
}

// Todo returns the tool that keeps the model's plan. It touches nothing but the
// session.
func Todo() tool.Tool {
	spec := looks("Todo", todoDescription)
	spec.Effects = nil
	return tool.New(spec, func(_ context.Context, args todoArgs, _ tool.Input) (*tool.Action, error) {
		if len(args.Items) > maxTodo {
			return nil, invalid("join some of them", "arguments of Todo: %d entries, at most %d fit", len(args.Items), maxTodo)
		}
		for n, item := range args.Items {
			if text := strings.TrimSpace(item.Text); text == "" || len(text) > maxTodoText {
				return nil, invalid("say in a few words what is to be done",
					"arguments of Todo: entry %d has %d bytes, 1 to %d fit", n+1, len(text), maxTodoText)
			}
		}
		return &tool.Action{
			Summary: standing(args.Items),
			Do: func(ctx context.Context, _ tool.Env) (tool.Result, error) {
				if err := ctx.Err(); err != nil {
					return ended(err), nil
				}
				return planned(args.Items), nil
			},
		}, nil
	})
}

// standing says in a line how far the list is.
func standing(items []todoItem) string {
	done, active := 0, []string{}
	for _, item := range items {
		switch item.State {
		case "done":
			done++
		case "active":
			active = append(active, oneLine(item.Text))
		}
	}
	return strings.TrimSpace(fmt.Sprintf("[%d/%d] %s", done, len(items), strings.Join(active, "; ")))
}

func planned(items []todoItem) tool.Result {
	d := todoData{Items: items}
	list := []tool.Todo{}
	for _, item := range items {
		switch item.State {
		case "pending":
			d.Pending++
		case "active":
			d.Active++
		case "done":
			d.Done++
		}
		list = append(list, tool.Todo{Text: oneLine(item.Text), State: item.State})
	}
	return tool.Result{
		Status: tool.Success, Data: data(d), Todo: list,
		Text: fmt.Sprintf("the list has %d entries: %d done, %d active, %d pending", len(items), d.Done, d.Active, d.Pending),
	}
}
