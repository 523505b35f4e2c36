import type { Page } from 'playwright-core';

/** What is wider than the window without a scroller of its own. */
export const overflows = (page: Page): Promise<string[]> =>
  page.evaluate(`[document.documentElement, document.body, ...document.querySelectorAll('.main, .scroll, .plugins-view, .dock')]
    .filter((element) => element.scrollWidth > Math.max(element.clientWidth, 1) && element.clientWidth > 0)
    .map((element) => element.id || element.localName)`);

/** Runs in the page: text whose colour stands out less than 4.5 : 1 from what is behind it. */
export const lowContrasts = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const over = (below, color) => {
    canvas.fillStyle = 'rgb(' + below.join(',') + ')';
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const behind = (element) => (element ? over(behind(element.parentElement), getComputedStyle(element).backgroundColor) : [255, 255, 255]);
  const light = (rgb) => rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.querySelectorAll('body *')].filter((element) => own(element) && element.checkVisibility()).flatMap((element) => {
    const back = behind(element);
    const [a, b] = [light(back), light(over(back, getComputedStyle(element).color))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    return ratio < 4.5 && !element.closest(':disabled') ? [element.className + ' ' + element.localName + ' ' + ratio.toFixed(2)] : [];
  });
})()`;
