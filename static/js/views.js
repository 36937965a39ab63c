// All views, in the order of the navigation. A view is the module ./views/NAME/view.js.

/**
 * name: as in #view=NAME; nav: its word in the navigation; what: what "Loading …" and "… cannot be shown" speak of. The
 * first one is shown where the address names none.
 */
export const VIEWS = [
  {name: "run", nav: "Roofline", what: "the run"},
  {name: "explorer", nav: "Explorer", what: "the explorer"},
  {name: "history", nav: "History", what: "the history"},
  {name: "runs", nav: "Runs", what: "the list of runs"},
  {name: "trend", nav: "Trend", what: "the trend"},
  {name: "compare", nav: "Compare", what: "the comparison"},
  {name: "jobs", nav: "Jobs", what: "the jobs"},
  {name: "import", nav: "Import", what: "the import form"},
];
