// @ts-check
/** What plugins did wrong while they ran: of what is live now in full, of code that was replaced since folded away. */
import { byId, h } from './element.js';
import { fullTime, visible, when } from './format.js';

/**
 * @typedef {import('../../faults/contract.ts').Fault} Fault
 * @typedef {Pick<ReturnType<import('../../../kernel/index.ts').Host['inspect']>, 'instances' | 'leftOut'>} Live
 */

export function createFaults() {
  const node = h('section', { class: 'faults', 'aria-label': 'Faults' });
  const badge = h('span', { class: 'badge' });
  byId('a', 'plugins-link').append(badge);
  /** @type {Map<string, Fault>} */
  let faults = new Map();
  /** @type {Live} */
  let live = { instances: [], leftOut: [] };
  let isEarlierOpen = false;

  /** @param {Fault} fault */
  const isPresent = (fault) => live.instances.some(({ plugin, since }) => plugin === fault.plugin && fault.generation >= since);
  /** The card of a plugin that was left out says it already. @param {Fault} fault */
  const isTold = (fault) => live.leftOut.some(({ plugin, code }) => plugin === fault.plugin && code === fault.code);
  /** By when each was first seen: what is repeated stays at its place. */
  const newestFirst = () => [...faults.values()].filter((fault) => !isTold(fault)).toSorted((a, b) => b.first - a.first);

  function draw() {
    const all = newestFirst();
    const present = all.filter(isPresent);
    const earlier = all.filter((fault) => !isPresent(fault));
    badge.textContent = present.length > 0 ? String(present.length) : '';
    badge.ariaLabel = present.length > 0 ? counted(present.length) : null;
    node.replaceChildren(...cards(present, 'fault-card'));
    if (earlier.length === 0) return;
    const summary = h('summary', {}, `Earlier: ${counted(earlier.length)} of code that was replaced or removed since`);
    const folded = h('details', { class: 'earlier', open: isEarlierOpen }, summary, ...cards(earlier, 'fault-card past'));
    folded.ontoggle = () => (isEarlierOpen = folded.open);
    node.append(folded);
  }

  return {
    node,
    /** @param {string} plugin */
    countOf: (plugin) => newestFirst().filter((fault) => fault.plugin === plugin && isPresent(fault)).length,
    /** @param {readonly Fault[]} list @param {Live} [now] */
    set(list, now = live) {
      faults = new Map(list.map((fault) => [fault.id, fault]));
      live = now;
      draw();
    },
    /** One that is new, or has a new count. @param {Fault} fault */
    take(fault) {
      faults.set(fault.id, fault);
      draw();
    },
  };
}

/** @param {readonly Fault[]} faults @param {string} look */
function cards(faults, look) {
  const byPlugin = Map.groupBy(faults, ({ plugin }) => plugin);
  return [...byPlugin].map(([plugin, own]) => h('div', { class: look }, h('h3', {}, plugin), h('ul', {}, ...own.map(drawFault))));
}

/** @param {Fault} fault */
function drawFault({ code, message, place, count, last, generation }) {
  const time = h('time', { datetime: new Date(last).toISOString(), title: fullTime(last) }, `${count > 1 ? 'last ' : ''}${ago(last)}`);
  const facts = [
    h('code', {}, code),
    count > 1 && h('strong', {}, `${count.toLocaleString()} times`),
    time,
    h('span', {}, `generation ${generation}`),
  ];
  const about = facts.filter(Boolean).flatMap((fact, i) => (i === 0 ? [fact] : [h('span', { class: 'dot' }, ' · '), fact]));
  return h(
    'li',
    {},
    h('p', {}, sentence(visible(message))),
    place && h('p', { class: 'fault-place' }, visible(place)),
    h('p', { class: 'fault-about' }, ...about),
  );
}

/** @param {number} at */
function ago(at) {
  const time = when(at) || 'yesterday';
  if (time === 'now') return 'just now';
  return /^\d+[mh]$/.test(time) ? `${time} ago` : time;
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {number} count */
const counted = (count) => `${count} ${count === 1 ? 'fault' : 'faults'}`;
