/* Runs before the first paint (a classic script), so that a chosen theme does not flash. */
(() => {
  try {
    const theme = localStorage.getItem('instar.theme');
    if (theme) document.documentElement.dataset.theme = theme;
  } catch {
    // no storage: the system's theme it is
  }
})();
