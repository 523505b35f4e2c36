// @ts-check
/** The chats beside the transcript; on a narrow screen, a drawer over it. */
import { byId } from './element.js';

export function createDrawer() {
  const drawer = byId('aside', 'drawer');
  const scrim = byId('div', 'scrim');
  const opener = byId('button', 'menu');
  const main = byId('main', 'main');
  const narrow = matchMedia('(max-width: 760px)');
  let isOpen = false;

  function show() {
    const covers = narrow.matches && isOpen;
    drawer.classList.toggle('open', covers);
    drawer.inert = narrow.matches && !isOpen;
    main.inert = covers;
    scrim.hidden = !covers;
    opener.setAttribute('aria-expanded', String(covers));
  }

  function close() {
    if (!isOpen) return false;
    isOpen = false;
    show();
    if (narrow.matches) opener.focus();
    return true;
  }

  opener.onclick = () => {
    isOpen = true;
    show();
    byId('button', 'new-chat').focus();
  };
  scrim.onclick = close;
  byId('button', 'close-drawer').onclick = close;
  narrow.addEventListener('change', () => {
    isOpen = false;
    show();
  });
  show();
  return { close };
}
