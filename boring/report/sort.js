"use strict";
for (const table of document.querySelectorAll("table.data")) {
  const body = table.tBodies[0];
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = text === "" ? NaN : Number(text.replace("\u2212", "-"));
    return { text, number };
  };
  const compare = (a, b, sign) => {
    if ((a.text === "") !== (b.text === "")) return a.text === "" ? 1 : -1;
    if (Number.isNaN(a.number) !== Number.isNaN(b.number)) return Number.isNaN(a.number) ? 1 : -1;
    if (!Number.isNaN(a.number)) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text);
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => [value(row, column), row]);
      keyed.sort((a, b) => compare(a[0], b[0], sign));
      body.append(...keyed.map((pair) => pair[1]));
    });
  });
}
