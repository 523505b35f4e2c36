// @ts-check
/** Line icons on a 24 grid, drawn as nodes: the page's policy allows no markup from strings. */

const paths = {
  plus: 'M12 5v14M5 12h14',
  menu: 'M4 7h16M4 12h16M4 17h10',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  down: 'M12 5v14M6 13l6 6 6-6',
  chevron: 'M9 6l6 6-6 6',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M7 7l10 10M17 7L7 17',
  alert: 'M12 8v5M12 16.5v.01M12 3.5l9 16H3z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l1 12.5h8L17 7M10.5 11v5M13.5 11v5',
  plugins: 'M4 4h6.5v6.5H4zM13.5 4H20v6.5h-6.5zM4 13.5h6.5V20H4zM13.5 16.75h6.5M16.75 13.5V20',
  sun: 'M12 8.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.5 1.5M16.9 16.9l1.5 1.5M5.6 18.4l1.5-1.5M16.9 7.1l1.5-1.5',
  moon: 'M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7z',
  auto: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  shield: 'M12 3.5l7 2.5v5.5c0 4.2-2.8 7.4-7 9-4.2-1.6-7-4.8-7-9V6z',
  thought: 'M12 4.5a7 6.2 0 1 1-3.2 11.7L5 17.5l1-3.4A6.2 6.2 0 0 1 12 4.5z',
  retry: 'M5 12a7 7 0 1 0 2.2-5.1M5 4.5v4h4',
  key: 'M15 4.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM11.8 12.2L4.5 19.5M7.5 16.5l2.5 2.5',
};

/** @typedef {keyof typeof paths} IconName */

/** @param {IconName} name @returns {SVGSVGElement} */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}

/** Fills the `<span data-icon="…">` places of index.html. @param {ParentNode} root */
export function drawIcons(root) {
  for (const place of root.querySelectorAll('[data-icon]')) {
    place.replaceChildren(icon(/** @type {IconName} */ (place.getAttribute('data-icon'))));
  }
}
