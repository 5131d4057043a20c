"use strict";
(() => {
const data = JSON.parse(document.getElementById("views")?.textContent ?? "null");
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// A link into what is folded opens it.
const open = () => {
	const target = /^#[\w-]+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
	for (let e = target && target.parentElement.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
	if (target && target.localName == "details") target.open = true;
	if (target) target.scrollIntoView();
};

for (const button of all("button[data-copy]")) {
	button.hidden = false;
	button.addEventListener("click", async () => {
		const text = document.getElementById(button.dataset.copy);
		getSelection().selectAllChildren(text); // to be copied by hand where the browser refuses
		try {
			await navigator.clipboard.writeText(text.textContent.trim());
			button.textContent = "Copied";
		} catch {
			button.textContent = "Selected";
		}
	});
}

addEventListener("hashchange", open);
if (!data) { open(); return; }

const form = document.getElementById("controls"), baseline = document.getElementById("baseline"), sort = document.getElementById("sort");
const matrix = document.querySelector(".matrix tbody"), lines = [...matrix.rows], groups = all(".ratios tbody");
const operations = [...new Set(lines.map(line => line.dataset.operation))];
for (const name of operations) {
	const label = document.createElement("label"), box = document.createElement("input");
	box.type = "checkbox";
	box.checked = true;
	box.dataset.operation = name;
	label.append(box, " " + name);
	document.getElementById("operations").append(label);
}
const columnBoxes = all("input[data-column]", form), operationBoxes = all("input[data-operation]", form);
const shown = boxes => new Set(boxes.filter(box => box.checked).map(box => box.dataset.column ?? box.dataset.operation));

// fill writes a cell of the heat map or the picture.
const fill = (link, cell) => {
	const tip = link.querySelector(".tip");
	link.firstChild.data = cell.t;
	if (tip) tip.textContent = " " + cell.d;
};

const set = (element, attributes) => {
	for (const name in attributes) element.setAttribute(name, typeof attributes[name] == "number" ? attributes[name].toFixed(1) + "%" : attributes[name]);
};

// draw puts a ratio where it lies.
const draw = (row, cell) => {
	const [, whisker, mark] = row.querySelector("svg").children, [at, from, to] = cell.r ?? [0, 0, 0];
	set(whisker, {x1: from, x2: to});
	set(mark, {cx: at, class: from == to ? "mark hollow" : "mark"});
	row.classList.toggle("empty", !cell.r);
};

const axis = view => {
	const drawing = document.querySelector(".axis"), [band, one] = document.getElementById("one").children;
	set(band, {x: view.band[0], width: view.band[1] - view.band[0]});
	set(one, {x1: view.one, x2: view.one});
	drawing.replaceChildren(drawing.firstChild, ...view.ticks.map(tick => {
		const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
		set(text, {x: tick.at, y: "13"});
		text.textContent = tick.text;
		return text;
	}));
};

// show makes the page what the controls say.
const show = () => {
	const base = baseline ? Number(baseline.value) : data.baseline, view = data.views[base];
	const columns = shown(columnBoxes), kept = shown(operationBoxes);
	const cell = (line, column) => view ? view.cells[line][column] : {};
	if (baseline && view) {
		for (const name of all(".baseline")) name.textContent = data.names[base];
		lines.forEach((line, i) => all("td", line).forEach((td, k) => {
			if (!cell(i, k)) return;
			fill(td.firstChild, cell(i, k));
			td.className = "n " + cell(i, k).c;
		}));
		axis(view);
		groups.forEach((group, k) => {
			for (const row of all("tr[data-line]", group)) {
				const c = cell(row.dataset.line, k);
				fill(row.querySelector("td.n a"), c);
				draw(row, c);
			}
		});
	}
	const ratio = (line, column) => cell(line, column)?.r?.[0] ?? -1;
	const visible = line => kept.has(lines[line].dataset.operation);
	const largest = line => Math.max(...data.names.map((_, k) => columns.has(String(k)) ? ratio(line, k) : -1));
	const order = lines.map((_, i) => i);
	if (sort.value == "ratio") order.sort((a, b) => largest(b) - largest(a) || a - b);
	matrix.append(...order.map(i => lines[i]));
	lines.forEach((line, i) => { line.hidden = !visible(i); });
	for (const e of all(".matrix [data-column]")) e.hidden = !columns.has(e.dataset.column);
	groups.forEach((group, k) => {
		const rows = all("tr[data-line]", group);
		rows.sort((a, b) => sort.value == "plan" ? a.dataset.line - b.dataset.line : ratio(b.dataset.line, k) - ratio(a.dataset.line, k) || a.dataset.line - b.dataset.line);
		group.append(...rows);
		for (const row of rows) row.hidden = !visible(row.dataset.line);
		group.hidden = !columns.has(String(k));
		group.classList.toggle("empty", rows.every(row => row.hidden || row.classList.contains("empty")));
	});
	for (const section of all("section.operation")) section.hidden = !kept.has(section.dataset.operation);
};

// write keeps the state of the controls in the address, to be sent to others.
const write = () => {
	const state = new URLSearchParams(), off = boxes => boxes.filter(box => !box.checked);
	if (baseline && Number(baseline.value) != data.baseline) state.set("baseline", data.names[baseline.value]);
	if (sort.value) state.set("sort", sort.value);
	for (const box of off(columnBoxes)) state.append("hide", data.names[box.dataset.column]);
	for (const box of off(operationBoxes)) state.append("without", box.dataset.operation);
	history.replaceState(null, "", location.pathname + location.search + (String(state) && "#" + state));
};

// read takes the state from the address. What it does not know it leaves alone.
const read = () => {
	if (!data || location.hash && !location.hash.includes("=")) return;
	const state = new URLSearchParams(location.hash.slice(1)), hide = state.getAll("hide"), without = state.getAll("without");
	const named = data.names.indexOf(state.get("baseline"));
	if (baseline) baseline.value = data.views[named] ? named : data.baseline;
	sort.value = ["ratio", "plan"].includes(state.get("sort")) ? state.get("sort") : "";
	for (const box of columnBoxes) box.checked = !hide.includes(data.names[box.dataset.column]);
	for (const box of operationBoxes) box.checked = !without.includes(box.dataset.operation);
	show();
};

addEventListener("hashchange", read);
form.hidden = false;
form.addEventListener("change", () => { show(); write(); });
form.addEventListener("submit", event => event.preventDefault());
read();
open();
})();
