package sdk

// Categories maps a linter's rules, tags and severities to categories of findings. All
// plugins for linters share this configuration:
//
//	{"categories": {
//	  "default": "lint-violation",
//	  "rules": {"no-unused-vars": "dead-code"},
//	  "tags": {"security": "silenced-failure"},
//	  "severities": {"warning": "style"}
//	}}
type Categories struct {
	fallback string
	tables   map[string]map[string]string // rules, tags and severities
	unmapped []Unmapped
	noted    map[string]bool
}

// Categories reads the whole configuration as Categories. usual is the category of findings
// if the configuration does not set a default.
func (r Report) Categories(usual string) (*Categories, error) {
	for name := range r.Config.Members() {
		if name != "categories" {
			return nil, unknownSetting("", name)
		}
	}
	return ReadCategories(r.Config.Get("categories"), usual)
}

// ReadCategories is Report.Categories for the setting categories of a plugin that also has
// other settings.
func ReadCategories(categories Value, usual string) (*Categories, error) {
	c := &Categories{fallback: usual, tables: make(map[string]map[string]string), noted: make(map[string]bool)}
	if categories == nil {
		return c, nil
	}
	if categories.Kind() != "object" {
		return nil, wrongSetting("/categories", "an object", categories)
	}
	for name, value := range categories.Members() {
		var err *Error
		switch name {
		case "rules", "tags", "severities":
			c.tables[name], err = readTable(value, "/categories/"+name)
		case "default":
			if c.fallback, _ = value.Text(); c.fallback == "" {
				err = wrongSetting("/categories/default", "a category", value)
			}
		default:
			err = unknownSetting("/categories", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func readTable(names Value, pointer string) (map[string]string, *Error) {
	if names.Kind() != "object" {
		return nil, wrongSetting(pointer, "an object", names)
	}
	table := make(map[string]string)
	for name, value := range names.Members() {
		category, _ := value.Text()
		if category == "" {
			return nil, wrongSetting(pointer+Pointer(name), "a category", value)
		}
		table[name] = category
	}
	return table, nil
}

func wrongSetting(pointer, wanted string, found Value) *Error {
	return RefuseConfig(pointer, pointer+" must be "+wanted+", but it is "+found.Excerpt(), "")
}

func unknownSetting(where, name string) *Error {
	return RefuseConfig(where+Pointer(name), description.Name+" has no setting "+Value(appendText(nil, name)).Excerpt(),
		"it takes categories: default, rules, tags, severities")
}

// Of returns the category of a finding by its rule, else by the first tag that has a
// category, else by the tool's severity, else the default. The rule and the severity may be
// "".
func (c *Categories) Of(rule string, tags []string, severity string) string {
	if category := c.tables["rules"][rule]; category != "" && rule != "" {
		return category
	}
	for _, tag := range tags {
		if category := c.tables["tags"][tag]; category != "" {
			return category
		}
	}
	if category := c.tables["severities"][severity]; category != "" && severity != "" {
		return category
	}
	if rule != "" && !c.noted[rule] {
		c.noted[rule] = true
		c.unmapped = append(c.unmapped, Unmapped{rule, c.fallback})
	}
	return c.fallback
}

// Unmapped returns the rules that got the default, each once, for Answer.Unmapped.
func (c *Categories) Unmapped() []Unmapped { return c.unmapped }
