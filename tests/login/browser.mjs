// A browser without a window: goes where it is sent, keeps cookies, fills in forms to log in and to consent, and stops at a
// page without a form. `BROWSER="node browser.mjs"`.

const jar = new Map();

async function ask(url, body) {
  const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
  if (body) headers['content-type'] = 'application/x-www-form-urlencoded';
  const response = await fetch(url, { method: body ? 'POST' : 'GET', body, headers, redirect: 'manual' });
  for (const cookie of response.headers.getSetCookie()) {
    const [pair] = cookie.split(';');
    jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  }
  return response;
}

let [url, body] = [process.argv[2], undefined];
for (let step = 0; step < 20; step++) {
  const response = await ask(url, body);
  body = undefined;
  const location = response.headers.get('location');
  if (location) {
    url = new URL(location, url).href;
    continue;
  }
  const page = await response.text();
  const form = page.match(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/);
  if (!form) break;
  const fields = [...form[2].matchAll(/<input([^>]*)>/g)].map(([, input]) => [input.match(/name="([^"]*)"/)?.[1], input.match(/value="([^"]*)"/)?.[1]]);
  const accept = form[2].match(/<button[^>]*name="([^"]*)"[^>]*value="(accept)"/);
  if (accept) fields.push(accept.slice(1));
  body = new URLSearchParams(fields.filter(([name]) => name).map(([name, value]) => [name, value || 'ada'])).toString();
  url = new URL(form[1].replaceAll('&amp;', '&'), url).href;
}
