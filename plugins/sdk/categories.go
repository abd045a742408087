package sdk

// Categories is the configuration that all linters' plugins share: which
// category the findings of a rule, a tag or a severity have.
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

// Categories reads the whole configuration as Categories. usual is the default
// category if the configuration sets none.
func (r Report) Categories(usual string) (*Categories, error) {
	for name := range r.Config.Members() {
		if name != "categories" {
			return nil, unknownSetting("", name)
		}
	}
	return ReadCategories(r.Config.Get("categories"), usual)
}

// ReadCategories reads the setting categories, for a plugin that has other
// settings too.
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

// Of returns the category of a finding: that of its rule, else of the first of
// its tags that has one, else of the tool's severity, else the default. A finding
// without a rule or severity passes "".
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

// Unmapped returns the rules whose findings got the default, each once: put it
// into the answer.
func (c *Categories) Unmapped() []Unmapped { return c.unmapped }
