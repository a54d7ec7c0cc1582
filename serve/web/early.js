// Runs before the first paint, so that neither the theme nor the language flickers. Not a module: modules wait.
(function () {
  "use strict";
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem("tenpass.theme");
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
    var language = localStorage.getItem("tenpass.language");
    if (language !== "en" && language !== "fr") language = /^fr/i.test(navigator.language) ? "fr" : "en";
    root.lang = language;
    if (window.innerWidth >= 1180 && localStorage.getItem("tenpass.side") !== "closed") root.dataset.side = "open";
  } catch (_error) {
    // Storage can be switched off in the browser: the defaults of the stylesheet then hold.
  }
})();
