// Drives headless Chromium for the tests: one command a line on standard input, one answer a line on standard output.
// Each command is a JSON object with `op` and what that needs; `tab` names the page, by default "main".
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [modules, chromium, origin] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium: type } = require('playwright-core');
const browser = await type.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
let context, tabs = {}, troubles = [];

async function newContext(options) {
  if (context) await context.close();
  tabs = {};
  context = await browser.newContext({ viewport: { width: 1200, height: 850 }, ...options });
}
async function open(name) {
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { troubles.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('console', (message) => { if (message.type() === 'error') troubles.push(`console: ${message.text()}`); });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(blob|data):/.test(request.url())) troubles.push(`request: ${request.url()}`);
  });
  tabs[name] = page;
  return page;
}
const tabOf = async (name) => tabs[name] ?? open(name);

const OPS = {
  context: async ({ options }) => newContext(options),
  goto: async ({ tab, url }) => { await (await tabOf(tab)).goto(url); },
  reload: async ({ tab }) => { await (await tabOf(tab)).reload(); },
  eval: async ({ tab, script }) => (await tabOf(tab)).evaluate(script),
  click: async ({ tab, selector }) => { await (await tabOf(tab)).click(selector); },
  fill: async ({ tab, selector, text }) => { await (await tabOf(tab)).fill(selector, text); },
  choose: async ({ tab, selector, value }) => { await (await tabOf(tab)).selectOption(selector, value); },
  press: async ({ tab, key }) => { await (await tabOf(tab)).keyboard.press(key); },
  wait: async ({ tab, selector }) => { await (await tabOf(tab)).waitForSelector(selector); },
  text: async ({ tab, selector }) => (await tabOf(tab)).innerText(selector),
  axe: async ({ tab }) => {
    const page = await tabOf(tab);
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const found = await page.evaluate('axe.run(document, {resultTypes: ["violations"]})');
    return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(' | ')}`);
  },
  shot: async ({ tab, path, height }) => {
    const page = await tabOf(tab);
    if (height) await page.setViewportSize({ width: page.viewportSize().width, height });
    await page.screenshot({ path });
  },
  troubles: async () => { const said = troubles; troubles = []; return said; },
};

await newContext({});
for await (const line of createInterface({ input: process.stdin })) {
  const { op, tab = 'main', ...rest } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ value: (await OPS[op]({ tab, ...rest })) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error.message ?? error) }));
  }
}
await browser.close();
