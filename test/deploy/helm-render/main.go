// Renders the templates of deploy/helm with the engine that Helm uses: Go's text/template with the functions of
// sprig. Helm adds its own functions; this program has the two that the chart uses (include, required). Reads
// the values and the built-in objects as JSON from standard input; the argument is the folder of the templates.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

func main() {
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(folder string) error {
	var objects map[string]interface{}
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	templates := template.New("chart").Option("missingkey=error").Funcs(sprig.TxtFuncMap())
	templates.Funcs(template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var text strings.Builder
			err := templates.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
	})
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return err
	}
	if _, err := templates.ParseFiles(files...); err != nil {
		return err
	}
	for _, file := range files {
		if name := filepath.Base(file); !strings.HasPrefix(name, "_") {
			fmt.Println("---")
			if err := templates.ExecuteTemplate(os.Stdout, name, objects); err != nil {
				return err
			}
		}
	}
	return nil
}
