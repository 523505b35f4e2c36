// @ts-check
/** Auto → light → dark. theme.js applies the choice before the first paint. */
import { byId } from './element.js';
import { icon } from './icons.js';
import { keep, kept } from './keep.js';

const order = /** @type {const} */ (['auto', 'light', 'dark']);
const icons = /** @type {const} */ ({ auto: 'auto', light: 'sun', dark: 'moon' });

export function startThemeToggle() {
  const button = byId('button', 'theme');
  let theme = order.find((name) => name === kept('theme')) ?? 'auto';
  const show = () => {
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    button.replaceChildren(icon(icons[theme]));
    button.title = `Theme: ${theme}`;
    button.setAttribute('aria-label', `Theme: ${theme}. Change it`);
  };
  button.onclick = () => {
    theme = order[(order.indexOf(theme) + 1) % order.length] ?? 'auto';
    keep('theme', theme === 'auto' ? undefined : theme);
    show();
  };
  show();
}
