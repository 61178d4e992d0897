import { afterEach, describe, expect, it } from 'vitest'
import { Dashboards, PASSWORD, PlainBrowser, TOKEN } from '../../support/dashboard.ts'

const dashboards = new Dashboards()
afterEach(async () => {
  expect(await dashboards.close()).toEqual([])
})
const open: Dashboards['open'] = (choices) => dashboards.open(choices)
const signedIn: Dashboards['signedIn'] = (choices) => dashboards.signedIn(choices)

const secretOf = (text: string): string => /id="secret">(fk-[0-9A-Za-z]{51})</.exec(text)?.[1] ?? ''

describe('signing in', () => {
  it('by password begins a session with another cookie, which scripts and other sites do not see', async () => {
    const { browser } = await open()
    const first = await browser.get()
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(first.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(first.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(first.headers.get('set-cookie')).toMatch(
      /^farthing-dashboard-\d+=[\w-]{43}; Path=\/dashboard; HttpOnly; SameSite=Strict$/,
    )
    expect(first.text).toContain('<code id="challenge">npx --no farthing wallet sign-text "')
    expect(first.text).toContain('<a href="/chat">Chat</a>')
    const before = browser.cookie
    const done = await browser.signInByPassword()
    expect([done.status, done.headers.get('location')]).toEqual([303, '/dashboard'])
    expect(browser.cookie).not.toBe(before)
    expect((await browser.get()).text).toContain('Signed in as the operator')
  })

  it('leaves a cookie of the host alone, over TLS only, where the public address has TLS', async () => {
    const { browser } = await open({ publicUrl: 'https://node.example' })
    expect((await browser.get()).headers.get('set-cookie')).toMatch(
      /^__Host-farthing-dashboard=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    )
  })

  it('by a wallet makes its address the owner', async () => {
    const { server, browser } = await open()
    const signed = await browser.signed(server.test, 2)
    expect((await browser.send('/dashboard/sign-in', { signed })).status).toBe(303)
    const made = await browser.makeKey({ label: 'of a wallet' })
    const [key] = server.keys.list('operator')
    expect([made.status, key?.owner]).toEqual([200, JSON.parse(signed).address])
  })

  it('takes a signature once, in time, in the browser and at the node that it was made for', async () => {
    const { server, browser } = await open()
    const signed = await browser.signed(server.test)
    const stranger = new PlainBrowser(server.url)
    await stranger.get()
    const at = async (who: PlainBrowser, text: string): Promise<string> => {
      const { status, text: page } = await who.send('/dashboard/sign-in', { signed: text })
      return `${status} ${/id="signed-wrong">([^<]*)</.exec(page)?.[1] ?? ''}`
    }
    expect(await at(stranger, signed)).toMatch(/^401 .*not the one that this page showed/)
    const { browser: elsewhere } = await open()
    await elsewhere.get()
    expect(await at(elsewhere, signed)).toMatch(/^401 .*not the one that this page showed/)
    expect((await browser.send('/dashboard/sign-in', { signed })).status).toBe(303)
    const late = new PlainBrowser(server.url)
    const lateText = await late.signed(server.test)
    server.time.pass(300_000)
    expect(await at(late, lateText)).toMatch(/^401 .*too late/)
  })

  it('refuses a replay even in the browser that has signed in with it', async () => {
    const { server, browser } = await open()
    const signed = await browser.signed(server.test)
    const cookie = browser.cookie
    const csrf = browser.hidden('csrf')
    expect((await browser.send('/dashboard/sign-in', { signed })).status).toBe(303)
    const thief = new PlainBrowser(server.url)
    thief.cookie = cookie
    const again = await thief.send('/dashboard/sign-in', { signed, csrf })
    expect([again.status, again.text]).toEqual([401, expect.stringContaining('used before')])
  })

  it.each([
    ['no JSON', () => 'x', 'must be a JSON object'],
    ['what is cut off', (s: Signed) => JSON.stringify(s).slice(0, 5_000), 'the pasted JSON is incomplete'],
    ['what lacks its beginning', (s: Signed) => JSON.stringify(s).slice(20), 'the pasted JSON is incomplete'],
    ['a list', () => '[{}]', 'must be a JSON object'],
    ['another text', (s: Signed) => JSON.stringify({ ...s, text: `${s.text} ` }), 'not the one'],
    [
      'another address',
      (s: Signed) => JSON.stringify({ ...s, address: s.address.replace(/.$/, 'x') }),
      'Not signed in',
    ],
    ['no keys', (s: Signed) => JSON.stringify({ ...s, keys: null }), 'keys'],
    ['another signature', (s: Signed) => JSON.stringify({ ...s, signature: turned(s) }), 'the signature is not good'],
  ])('refuses %s with a reason at the field', async (_, change, reason) => {
    const { server, browser } = await open()
    const signed = JSON.parse(await browser.signed(server.test)) as Signed
    const { status, text } = await browser.send('/dashboard/sign-in', { signed: change(signed) })
    expect(status).toBe(401)
    expect(/id="signed-wrong">([^<]*)</.exec(text)?.[1]).toContain(reason)
    expect(text).toContain('aria-invalid="true"')
  })

  it('is for the wallets that the operator has named', async () => {
    const { server: none, browser: withoutWallets } = await open({ wallets: [] })
    expect((await withoutWallets.get()).text).not.toContain('sign-text')
    expect(none.keys.list('operator')).toEqual([])
    const { server, browser } = await open()
    const { address } = JSON.parse(await browser.signed(server.test, 3)) as Signed
    const { server: chosen, browser: guest } = await open({ wallets: [address] })
    const other = await guest.signed(chosen.test, 4)
    expect((await guest.send('/dashboard/sign-in', { signed: other })).text).toContain('has not named this wallet')
    const right = await guest.signed(chosen.test, 3)
    expect((await guest.send('/dashboard/sign-in', { signed: right })).status).toBe(303)
  })

  it('makes who guesses the password wait, longer each time', async () => {
    const { server, browser } = await open()
    await browser.get()
    const guess = (): Promise<{ readonly status: number; readonly headers: Headers }> =>
      browser.send('/dashboard/sign-in', { password: 'wrong' })
    for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(401)
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      const refused = await guess()
      expect(refused.status).toBe(429)
      waits.push(Number(refused.headers.get('retry-after')))
      server.time.pass((waits.at(-1) as number) * 1_000)
      expect((await guess()).status).toBe(401)
    }
    expect(waits).toEqual([1, 2, 4, 8])
    expect((await browser.signInByPassword()).status).toBe(429)
    server.time.pass(16_000)
    expect((await browser.signInByPassword()).status).toBe(303)
  })

  it('lets the operator in by the token, however many guess the password from wherever', async () => {
    const { server, browser } = await open({ trustProxy: true, loopback: false })
    await browser.get()
    const from = (address: string, password: string) =>
      browser.send('/dashboard/sign-in', { password }, { origin: server.url, 'x-forwarded-for': address })
    for (let i = 0; i < 300; i++) expect((await from(`10.0.${i}.1`, 'wrong')).status).toBe(401)
    const kept = await from('192.0.2.1', PASSWORD)
    expect([kept.status, Number(kept.headers.get('retry-after')) > 3_000]).toEqual([429, true])
    expect(kept.text).toContain('operator.token')
    expect((await from('10.0.7.1', ` ${TOKEN}\n`)).status).toBe(303)
    expect((await browser.get()).text).toContain('API keys')
    const other = new PlainBrowser(server.url)
    await other.get()
    for (const wrong of ['', TOKEN.slice(1), `${TOKEN}0`, `Bearer ${TOKEN}`])
      expect((await other.send('/dashboard/sign-in', { password: wrong })).status).toBe(401)
  })
})

interface Signed {
  readonly address: string
  readonly text: string
  readonly signature: readonly { readonly keyIndex: number; readonly bytes: string }[]
}

function turned({ signature }: Signed): Signed['signature'] {
  return signature.map(({ keyIndex, bytes }) => ({
    keyIndex,
    bytes: `${bytes.startsWith('0') ? '1' : '0'}${bytes.slice(1)}`,
  }))
}

describe('forms of strangers', () => {
  const own = (url: string) => ({ origin: url, 'sec-fetch-site': 'same-origin' })

  it.each([
    ['without the mark of the page', { csrf: '' }, own],
    ['with a wrong mark', { csrf: 'A'.repeat(43) }, own],
    ['from another origin', {}, () => ({ origin: 'https://evil.example' })],
    ['from no origin', {}, () => ({ origin: 'null' })],
    ['from another site, as the browser tells', {}, (url: string) => ({ origin: url, 'sec-fetch-site': 'cross-site' })],
    ['from another host of the site', {}, () => ({ 'sec-fetch-site': 'same-site' })],
  ])('%s do nothing', async (_, fields, headers) => {
    const { server, browser } = await signedIn()
    await browser.get()
    const turn = browser.hidden('turn')
    const refused = await browser.send('/dashboard/keys', { turn, label: 'x', ...fields }, headers(server.url))
    expect([refused.status, server.keys.list('operator')]).toEqual([403, []])
    const stays = await browser.send('/dashboard/sign-out', fields, headers(server.url))
    expect(stays.status).toBe(403)
    expect((await browser.get()).text).toContain('Signed in as the operator')
  })

  it('sign no browser in without the cookie, or with the mark of another browser', async () => {
    const { server, browser } = await open()
    const attacker = new PlainBrowser(server.url)
    await attacker.get()
    const csrf = attacker.hidden('csrf')
    const password = server.secret.password
    expect((await browser.send('/dashboard/sign-in', { csrf, password })).status).toBe(403)
    await browser.get()
    expect((await browser.send('/dashboard/sign-in', { csrf, password })).status).toBe(403)
  })

  it('are taken as forms alone', async () => {
    const { server } = await open()
    const json = await fetch(`${server.url}/dashboard/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"password":"x"}',
    })
    expect(json.status).toBe(415)
    const elsewhere = await fetch(`${server.url}/api/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${'7a'.repeat(32)}` },
      body: 'label=x',
    })
    expect(elsewhere.status).toBe(415)
  })

  it('are answered, whatever is in them', async () => {
    const { server } = await open()
    const bodies = [
      '',
      '&',
      '=',
      '%',
      '%zz=%',
      'csrf=a&csrf=b',
      '__proto__=1&constructor=2',
      'a&'.repeat(100_000),
      '\0',
    ]
    for (const body of bodies)
      for (const path of ['/sign-in', '/sign-out', '/keys', '/keys/abcdefgh', '/keys/abcdefgh/revoke']) {
        const headers = {
          'content-type': 'application/x-www-form-urlencoded',
          cookie: `farthing-dashboard-${new URL(server.url).port}=${body.slice(0, 50).replace(/\0/g, '')}`,
        }
        const { status } = await fetch(`${server.url}/dashboard${path}`, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
        })
        expect([path, body.slice(0, 20), status >= 400 && status < 500]).toEqual([path, body.slice(0, 20), true])
      }
  })
})

describe('a session', () => {
  it('makes a key that works, and shows it once', async () => {
    const { server, browser } = await signedIn()
    const made = await browser.makeKey({ label: '<b>laptop</b> & "co"', rpm: '5', tpd: '1000', days: '2' })
    const secret = secretOf(made.text)
    expect(made.headers.get('cache-control')).toBe('no-store')
    expect(made.text).not.toContain('<b>laptop')
    expect(server.keys.identify(`Bearer ${secret}`)).toMatchObject({
      ok: true,
      value: {
        label: '<b>laptop</b> & "co"',
        limits: { rpm: 5, tpd: 1000 },
        expiresAtMs: server.time.now() + 172_800_000,
      },
    })
    const list = await browser.get()
    expect(list.text).toContain(secret.slice(3, 11))
    expect(list.text).not.toContain(secret.slice(11))
  })

  it('makes one key of a form that is sent twice', async () => {
    const { server, browser } = await signedIn()
    await browser.get()
    const fields = { turn: browser.hidden('turn'), csrf: browser.hidden('csrf'), label: 'once' }
    const [one, two] = [await browser.send('/dashboard/keys', fields), await browser.send('/dashboard/keys', fields)]
    expect([one.status, two.status, server.keys.list('operator').length]).toEqual([200, 409, 1])
  })

  it('names, limits and ends a key, once it is said that this is meant', async () => {
    const { server, browser } = await signedIn()
    const secret = secretOf((await browser.makeKey({ label: 'old' })).text)
    const path = `/dashboard/keys/${secret.slice(3, 11)}`
    expect((await browser.get(path)).text).toContain('Name and limits')
    expect((await browser.send(path, { label: 'new', rpm: '7', tpd: '' })).status).toBe(303)
    expect(server.keys.list('operator')).toMatchObject([{ label: 'new', limits: { rpm: 7, tpd: null } }])
    await browser.get(path)
    const unsure = await browser.send(`${path}/revoke`, {})
    expect([unsure.status, unsure.text]).toEqual([400, expect.stringContaining('id="sure-wrong"')])
    expect((await browser.send(`${path}/revoke`, { sure: 'yes' })).status).toBe(303)
    expect(server.keys.identify(`Bearer ${secret}`).ok).toBe(false)
  })

  it.each([
    ['label', { label: ' ' }],
    ['label', { label: 'x'.repeat(61) }],
    ['label', { label: 'a\u202eb' }],
    ['rpm', { label: 'a', rpm: 'many' }],
    ['rpm', { label: 'a', rpm: '99999999' }],
    ['tpd', { label: 'a', tpd: '-1' }],
    ['days', { label: 'a', days: '0' }],
    ['days', { label: 'a', days: '9999999999999' }],
    ['days', { label: 'a', days: '3651' }],
    ['days', { label: 'a', days: '99990000' }],
  ])('says what is wrong with %s, at the field, and keeps what was written', async (field, fields) => {
    const { server, browser } = await signedIn()
    const { status, text } = await browser.makeKey({ tpd: '77', ...fields })
    expect(status).toBe(400)
    expect(text).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`))
    expect(text).toContain(`id="${field}-wrong"`)
    if (field !== 'tpd') expect(text).toContain('value="77"')
    expect(server.keys.list('operator')).toEqual([])
  })

  it('makes no more keys than an owner may have', async () => {
    const { browser } = await signedIn()
    for (let i = 0; i < 3; i++) expect((await browser.makeKey({ label: `key ${i}` })).status).toBe(200)
    const full = await browser.makeKey({ label: 'one more' })
    expect([full.status, full.text]).toEqual([409, expect.stringContaining('There are 3 keys already')])
  })

  it('of a wallet sees and changes its own keys alone', async () => {
    const { server, browser } = await signedIn()
    const id = secretOf((await browser.makeKey({ label: 'of the operator' })).text).slice(3, 11)
    const guest = new PlainBrowser(server.url)
    await guest.send('/dashboard/sign-in', { signed: await guest.signed(server.test, 5) })
    expect((await guest.get()).text).not.toContain('of the operator')
    expect((await guest.get(`/dashboard/keys/${id}`)).status).toBe(404)
    await guest.get()
    expect((await guest.send(`/dashboard/keys/${id}`, { label: 'mine' })).status).toBe(404)
    await guest.get()
    expect((await guest.send(`/dashboard/keys/${id}/revoke`, { sure: 'yes' })).status).toBe(404)
    expect(server.keys.list('operator')).toMatchObject([{ label: 'of the operator', state: 'live' }])
    await guest.makeKey({ label: 'of a guest' })
    expect((await browser.get()).text).toContain('of a guest')
  })

  it.each([
    ['after an hour without use', 3_600_000, 1],
    ['after twelve hours', 3_000_000, 15],
  ])('is over %s', async (_, stepMs, steps) => {
    const { server, browser } = await signedIn()
    await browser.get()
    const fields = { turn: browser.hidden('turn'), csrf: browser.hidden('csrf'), label: 'late' }
    let last = ''
    for (let i = 0; i < steps; i++) {
      server.time.pass(stepMs)
      last = (await browser.get()).text
    }
    expect(last).toContain('Sign in as the operator')
    const late = await browser.send('/dashboard/keys', fields)
    expect([late.status, server.keys.list('operator')]).toEqual([401, []])
    expect(late.text).toContain('Your session is over')
  })

  it('outlives that another site leads to it without its cookie', async () => {
    const { server, browser } = await signedIn()
    for (const path of ['/dashboard', '/dashboard/keys/abcdefgh']) {
      const led = await fetch(`${server.url}${path}`, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect([led.status, led.headers.get('set-cookie'), led.headers.get('refresh')]).toEqual([
        200,
        null,
        '0;url=/dashboard',
      ])
    }
    expect((await browser.get()).text).toContain('Signed in as the operator')
  })

  it('is over when it is left, and when the password is set anew', async () => {
    const { server, browser } = await signedIn()
    const other = new PlainBrowser(server.url)
    await other.signInByPassword()
    await browser.get()
    expect((await browser.send('/dashboard/sign-out', {})).status).toBe(303)
    expect((await browser.get()).text).toContain('Sign in as the operator')
    expect((await other.get()).text).toContain('Signed in as the operator')
    server.secret.stamp = 'second'
    expect((await other.get()).text).toContain('Sign in as the operator')
  })
})
