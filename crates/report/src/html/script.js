'use strict';
// Filters and sorts the heat map, and unpacks the passes that are asked for. Data are only ever set as text.
(() => {
  const UNPACKS = typeof DecompressionStream === 'function';
  const LISTED = 50;

  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  // ── packed data ──

  const chunks = new Map();
  const unpack = (id) => {
    if (!chunks.has(id)) chunks.set(id, read(id));
    return chunks.get(id);
  };
  const read = async (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).json();
  };

  // [[title, text or number of a text]] with the texts in place.
  const readParts = async (index, parts) => Promise.all(parts.map(async ([title, text]) => {
    if (typeof text === 'string') return [title, text];
    const [chunk, position] = index.texts[text];
    return [title, (await unpack('t' + chunk))[position]];
  }));

  const readPass = async (index, entry) => {
    const pass = (await unpack('d' + entry[5]))[entry[6]];
    const [parts, ...requests] = await Promise.all(
      [pass.parts, ...pass.requests.map((request) => index.requests[request])].map((list) => readParts(index, list)));
    return { ...pass, parts, requests };
  };

  // ── the panel ──

  const panel = document.getElementById('panel');
  const body = document.getElementById('panel-body');
  document.getElementById('panel-close').addEventListener('click', () => panel.close());
  panel.addEventListener('click', (event) => { if (event.target === panel) panel.close(); });

  const list = (pairs) => {
    const facts = make('dl', undefined, 'facts');
    for (const [name, value] of pairs) facts.append(make('dt', name), make('dd', value));
    return facts;
  };

  const pre = (text, className) => {
    const element = make('pre', text === '' ? '(empty)' : text, className);
    element.tabIndex = 0;
    return element;
  };

  // What people and models said is in the language of the case; the rest is English.
  const SPOKEN = /^(text|reasoning|answers|user|assistant)/;
  const sections = (parts, language) => parts.map(([title, text]) => {
    const section = make('section');
    const words = pre(text);
    if (language && SPOKEN.test(title)) words.lang = language;
    section.append(make('h4', title), words);
    return section;
  });

  const showPass = (pass, language) => {
    const content = document.createDocumentFragment();
    if (pass.reasons.length > 0) {
      const reasons = make('ul', undefined, 'remarks');
      for (const reason of pass.reasons) reasons.append(make('li', reason));
      content.append(reasons);
    }
    content.append(...sections(pass.parts, language));
    pass.requests.forEach((parts, number) => {
      const request = make('details');
      const last = pass.requests.length > 1 && number === pass.requests.length - 1;
      const which = pass.requests.length === 1 ? 'request' : last ? 'last request' : 'first request';
      request.append(make('summary', which), ...sections(parts, language));
      content.append(request);
    });
    content.append(list(pass.facts), make('h4', 'in the terminal'), pre(pass.command, 'command'));
    return content;
  };

  const verdictOf = (entry) => entry[4] || 'no class';

  // One closed element a pass; its content is read when it opens.
  const passElement = (index, entry, label) => {
    const element = make('details', undefined, 'pass');
    element.append(make('summary', label));
    element.addEventListener('toggle', async () => {
      if (!element.open || element.dataset.read) return;
      element.dataset.read = 'yes';
      const waiting = make('p', 'unpacking …', 'quiet');
      element.append(waiting);
      try {
        const language = index.sections[entry[0]].cases[entry[2]][2];
        waiting.replaceWith(showPass(await readPass(index, entry), language === 'und' ? '' : language));
      } catch (error) {
        waiting.replaceWith(make('p', 'this part of the file is damaged: ' + error.message, 'bad'));
      }
    });
    return element;
  };

  const listPasses = (index, entries, labelOf) => {
    const holder = make('div');
    const more = make('button');
    more.type = 'button';
    let shown = 0;
    const add = () => {
      const next = entries.slice(shown, shown + LISTED);
      more.before(...next.map((entry) => passElement(index, entry, labelOf(entry))));
      shown += next.length;
      more.hidden = shown >= entries.length;
      more.textContent = 'show more of ' + (entries.length - shown);
    };
    holder.append(more);
    more.addEventListener('click', add);
    add();
    const first = holder.querySelector('details');
    if (first) first.open = true;
    return holder;
  };

  const quoted = (word) => /^[\w.@%+=:,/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";

  const missing = (count, column, caseId) => {
    const note = make('div');
    const one = count === 1;
    note.append(
      make('p', (one ? '1 more failing pass is' : count + ' more failing passes are') + ' not in this file. In the terminal:', 'quiet'),
      pre('tenpass runs show ' + quoted(column[0]) + (caseId ? ' --case ' + quoted(caseId) : '') +
        ' --configuration ' + quoted(column[1]) + (caseId ? ' --pass N' : ''), 'command'));
    return note;
  };

  const open = async (title, fill) => {
    document.getElementById('panel-title').textContent = title;
    body.replaceChildren();
    panel.showModal();
    body.scrollTop = 0;
    if (!UNPACKS) {
      body.append(make('p', 'This browser cannot unpack what is in the file (it has no DecompressionStream). Open it in a newer one, ' +
        'or use `tenpass runs show` in the terminal.', 'doubt'));
      return;
    }
    try {
      body.append(await fill(await unpack('index')));
    } catch (error) {
      body.append(make('p', 'the file is damaged: ' + error.message, 'bad'));
    }
  };

  const openCell = (section, column, position, name) => open(name, (index) => {
    const { columns, cases } = index.sections[section];
    const [caseId, cells] = cases[position];
    const [facts, failing] = cells[column];
    const entries = index.passes.filter((entry) => entry[0] === section && entry[1] === column && entry[2] === position);
    const right = entries.filter((entry) => entry[4] === '+').length;
    const content = document.createDocumentFragment();
    content.append(make('p', columns[column][1] + ' · ' + columns[column][0], 'quiet'), list(facts));
    if (entries.length > 0) {
      content.append(listPasses(index, entries, (entry) => 'pass ' + entry[3] + ' · ' + (entry[4] === '+' ? 'right' : verdictOf(entry))));
    } else if (failing === 0) {
      content.append(make('p', 'No pass failed.', 'good'));
    }
    const left = failing - (entries.length - right);
    if (left > 0) content.append(missing(left, columns[column], caseId));
    return content;
  });

  const openClass = (section, column, name, count) => open(name || 'unclassified', (index) => {
    const { columns, cases } = index.sections[section];
    const entries = index.passes.filter((entry) => entry[0] === section && entry[1] === column && entry[4] === name);
    const content = document.createDocumentFragment();
    content.append(make('p', columns[column][1] + ' · ' + columns[column][0], 'quiet'));
    content.append(listPasses(index, entries, (entry) => cases[entry[2]][0] + ' · pass ' + entry[3]));
    const left = count - entries.length;
    if (left > 0) content.append(missing(left, columns[column], ''));
    return content;
  });

  for (const button of document.querySelectorAll('button.count')) {
    const count = Number(button.textContent.replace(/\D/g, ''));
    button.addEventListener('click', () =>
      openClass(Number(button.dataset.section), Number(button.dataset.column), button.dataset.class, count));
  }

  // ── the heat maps ──

  const rateOf = (cell) => {
    const [passed, total] = cell.firstChild.data.split('/').map(parseFloat);
    return total ? passed / total : passed / 100;
  };

  const setUp = (table) => {
    const controls = document.querySelector('.controls[data-for="' + table.id + '"]');
    const [search, failing] = controls.querySelectorAll('input');
    const status = controls.querySelector('[role=status]');
    const families = [...table.tBodies];
    const rows = [...table.querySelectorAll('tr[data-i]')];
    const homes = rows.map((row) => row.parentNode);
    const flat = make('tbody');
    let words = null;
    controls.hidden = false;

    const filter = () => {
      words ??= rows.map((row, i) => [row.cells[0].textContent, homes[i].rows[0].cells[0].textContent, row.dataset.l, row.dataset.k]
        .join(' ').toLowerCase());
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = wanted.every((word) => words[i].includes(word)) &&
          (!failing.checked || row.querySelector('td.h0, td.h1, td.h2, td.h3, td.h4, td.h5'));
        row.hidden = !fits;
        if (fits) shown += 1;
      });
      table.classList.toggle('filtered', wanted.length > 0 || failing.checked);
      for (const family of families) family.hidden = family.parentNode && !family.querySelector('tr[data-i]:not([hidden])');
      status.textContent = shown === rows.length ? shown + (shown === 1 ? ' case' : ' cases') : shown + ' of ' + rows.length + ' cases';
      enter(table.querySelector('td[tabindex="0"]'));
    };
    search.addEventListener('input', filter);
    failing.addEventListener('change', filter);

    const mark = (button, direction) => {
      for (const head of table.tHead.rows[0].cells) head.removeAttribute('aria-sort');
      if (button) button.parentNode.setAttribute('aria-sort', direction);
    };
    const byFamily = () => {
      rows.forEach((row, i) => homes[i].append(row));
      flat.remove();
      table.append(...families);
      mark(null);
      filter();
    };
    const sort = (button) => {
      const up = button.parentNode.getAttribute('aria-sort') !== 'ascending';
      const by = button.dataset.by;
      const value = by === 'name' ? (row) => row.cells[0].textContent : (row) => rateOf(row.cells[Number(by) + 1]);
      // Cells without a rate come last, whatever the direction.
      const key = new Map(rows.map((row) => [row, value(row)]));
      const compare = by === 'name' ? (a, b) => (a < b ? -1 : a > b ? 1 : 0) : (a, b) => a - b;
      const sorted = [...rows].sort((a, b) => {
        const [x, y] = [key.get(a), key.get(b)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return up ? compare(x, y) : compare(y, x);
      });
      flat.append(...sorted);
      for (const family of families) family.remove();
      table.append(flat);
      mark(button, up ? 'ascending' : 'descending');
      filter();
    };
    controls.querySelector('button.families').addEventListener('click', byFamily);
    for (const button of table.querySelectorAll('button.sort')) button.addEventListener('click', () => sort(button));

    // One cell is in the order of the tab key; arrows lead to the others.
    const isCell = (element) => element instanceof HTMLElement && element.matches('td[tabindex]');
    const isShown = (row) => row.dataset.i && !row.hidden && row.offsetParent !== null;
    const enter = (known) => {
      if (known && isShown(known.parentNode)) return;
      if (known) known.tabIndex = -1;
      const row = rows.find(isShown);
      if (row) row.cells[1].tabIndex = 0;
    };
    const next = (row, step) => {
      const all = [...table.querySelectorAll('tr[data-i]')].filter(isShown);
      const at = all.indexOf(row) + step;
      return all[Math.max(0, Math.min(all.length - 1, at))];
    };
    const target = (cell, key) => {
      const row = cell.parentNode;
      const last = [...row.cells].filter(isCell).length;
      switch (key) {
        case 'ArrowLeft': return row.cells[Math.max(1, cell.cellIndex - 1)];
        case 'ArrowRight': return row.cells[Math.min(last, cell.cellIndex + 1)];
        case 'Home': return row.cells[1];
        case 'End': return row.cells[last];
        case 'ArrowUp': return next(row, -1).cells[cell.cellIndex];
        case 'ArrowDown': return next(row, 1).cells[cell.cellIndex];
        case 'PageUp': return next(row, -10).cells[cell.cellIndex];
        case 'PageDown': return next(row, 10).cells[cell.cellIndex];
        default: return null;
      }
    };
    const focus = (cell) => {
      const old = table.querySelector('td[tabindex="0"]');
      if (old) old.tabIndex = -1;
      cell.tabIndex = 0;
      cell.focus();
    };
    const press = (cell) => {
      const row = cell.parentNode;
      const position = Number(row.dataset.i);
      openCell(Number(table.dataset.section), cell.cellIndex - 1, position, row.cells[0].firstChild.data.trim());
    };
    table.addEventListener('keydown', (event) => {
      if (!isCell(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const found = target(event.target, event.key);
      if (found) focus(found);
      else if (event.key === 'Enter' || event.key === ' ') press(event.target);
      else return;
      event.preventDefault();
    });
    table.addEventListener('click', (event) => {
      const fold = event.target.closest('button.fold');
      if (fold) {
        const closed = fold.closest('tbody').classList.toggle('closed');
        fold.setAttribute('aria-expanded', String(!closed));
        enter(table.querySelector('td[tabindex="0"]'));
        return;
      }
      const cell = event.target.closest('td');
      if (!isCell(cell)) return;
      focus(cell);
      press(cell);
    });
    enter(null);
  };

  for (const table of document.querySelectorAll('table.heat')) setUp(table);
})();
