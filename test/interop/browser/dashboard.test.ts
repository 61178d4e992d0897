import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { openChromium, SCHEMES, Visitor } from './visitor.ts'

const workshop = new Workshop()
/** Folder for screenshots; none are taken without it. */
const { PICTURES } = process.env
const WIDTHS = [390, 768, 1280] as const
const PASSWORD = 'correct horse battery staple'
const LONG = 'A name as long as a name may be, with <b>markup</b> in it &'.padEnd(60, 'x')
/** Chromium logs every answer that is not a success. */
const TOLD = (status: string): string =>
  `console: Failed to load resource: the server responded with a status of ${status}`

let daemon: RunningDaemon
let browser: Browser

beforeAll(async () => {
  if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true })
  daemon = await workshop.start(workshop.folder(), { mine: 0 })
  browser = await openChromium()
})
afterAll(() => browser?.close())

/** Checks the open page in every width and scheme. Returns the faults. */
async function faultsOf(visitor: Visitor, name: string): Promise<readonly string[]> {
  const faults: string[] = []
  for (const width of WIDTHS)
    for (const scheme of SCHEMES) {
      await visitor.look(width, scheme)
      const wide = await visitor.overflow()
      if (wide > 0) faults.push(`${name} ${width} ${scheme}: ${wide} px too wide`)
      if (width !== 768) faults.push(...(await visitor.violations()).map((one) => `${name} ${width} ${scheme}: ${one}`))
      if (PICTURES !== undefined && scheme === 'light')
        await visitor.page.screenshot({ path: join(PICTURES, `${name}-${width}.png`), fullPage: true })
    }
  return faults
}

async function signInByPassword({ page }: Visitor, password: string): Promise<void> {
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in as the operator' }).click()
}

async function makeKey(page: Page, label: string, limits: Readonly<Record<string, string>> = {}): Promise<string> {
  await page.getByLabel('Name').fill(label)
  for (const [name, value] of Object.entries(limits)) await page.getByLabel(name).fill(value)
  await page.getByRole('button', { name: 'Make the key' }).click()
  return (await page.locator('#secret').textContent()) ?? ''
}

async function chatStatus(secret: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] })
  return (await fetch(`${daemon.url}/api/v1/chat/completions`, { method: 'POST', headers, body })).status
}

describe('the dashboard in a real browser', () => {
  it.each([true, false])(
    'takes the operator from a password to a key and to its end (scripts on: %s)',
    async (scripts) => {
      const visitor = await Visitor.arrive(browser, daemon.url, scripts)
      const { page } = visitor
      const look = async (name: string): Promise<readonly string[]> => (scripts ? faultsOf(visitor, name) : [])
      const faults: string[] = []
      expect(await visitor.open('/dashboard')).toBe(200)
      faults.push(...(await look('sign-in')))
      await signInByPassword(visitor, 'not the password')
      await page.getByRole('alert').waitFor()
      expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
      faults.push(...(await look('sign-in-wrong')))
      const token = readFileSync(join(daemon.dataDir, 'operator.token'), 'utf8').trim()
      await signInByPassword(visitor, token)
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
      faults.push(...(await look('no-keys')))

      const secret = await makeKey(page, LONG, {
        'Chats a minute': '30',
        'Tokens a day': '50000',
        'Days until it ends': '90',
      })
      expect(secret).toMatch(/^fk-[0-9A-Za-z]{51}$/)
      expect(page.url()).not.toContain(secret.slice(11))
      faults.push(...(await look('made')))
      expect(await chatStatus(secret)).toBe(503)
      await page.getByRole('link', { name: 'I have it' }).click()
      expect(await page.content()).not.toContain(secret.slice(11))
      expect(await page.locator('.row h3').first().textContent()).toBe(LONG)
      faults.push(...(await look('keys')))

      await page.getByRole('link', { name: LONG }).click()
      await page.getByLabel('Name').fill('laptop')
      await page.getByLabel('Chats a minute').fill('')
      faults.push(...(await look('key')))
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('link', { name: 'laptop', exact: true }).first().click()
      await page.getByRole('button', { name: 'Revoke the key' }).click()
      // The browser does not submit the form without the required check mark.
      expect(await page.getByRole('heading', { name: 'Revoke' }).count()).toBe(1)
      await page.getByLabel('Yes, end this key for good').check()
      await page.getByRole('button', { name: 'Revoke the key' }).click()
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
      expect(await page.locator('.row').first().innerText()).toContain('revoked')
      expect(await chatStatus(secret)).toBe(401)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
      expect(faults).toEqual([])
      expect(visitor.complaints).toEqual([TOLD('401 (Unauthorized)')])
      await visitor.leave()
    },
  )

  it('lets a wallet in that signs with the command line, and shows it its own keys', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url, false)
    const { page } = visitor
    await visitor.open('/dashboard')
    const line = (await page.locator('#challenge').textContent()) ?? ''
    const [, text = ''] = /^npx --no farthing wallet sign-text "([^"]+)"$/.exec(line) ?? []
    const signed = await workshop.run(['wallet', 'sign-text', text, '--data-dir', daemon.dataDir])
    expect(signed).toMatchObject({ code: 0, stderr: '' })
    await page.getByLabel('What it printed').fill(signed.stdout)
    await page.getByRole('button', { name: 'Sign in with this signature' }).click()
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    const { address } = JSON.parse(signed.stdout) as { readonly address: string }
    expect(await page.locator('.lede').textContent()).toContain(address)
    const secret = await makeKey(page, 'of a wallet')
    expect(await chatStatus(secret)).toBe(503)
    await page.getByRole('link', { name: 'I have it' }).click()
    expect(await page.locator('.row').count()).toBe(1)
    // No model answers here. A chat that could not begin is not counted.
    expect(await page.locator('.figures').first().innerText()).toMatch(/Today\s+0/i)
    expect(visitor.complaints).toEqual([])
    await visitor.leave()
  })

  it('lets no page of another origin make a key or sign the operator out', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    const { page } = visitor
    expect(
      (await workshop.run(['keys', 'password', '--data-dir', daemon.dataDir], { input: `${PASSWORD}\n` })).code,
    ).toBe(0)
    await visitor.open('/dashboard')
    await signInByPassword(visitor, PASSWORD)
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    const before = await page.locator('.row').count()
    const forged = await page.context().newPage()
    for (const path of ['keys', 'sign-out']) {
      const form = `<form method="post" action="${daemon.url}/dashboard/${path}"><input name="label" value="x"><button>go</button></form>`
      await forged.goto(`data:text/html,${encodeURIComponent(form)}`)
      await forged.getByRole('button').click()
      await forged.getByRole('heading', { name: 'Not done' }).waitFor()
    }
    await forged.goto(`data:text/html,${encodeURIComponent(`<a href="${daemon.url}/dashboard">there</a>`)}`)
    await forged.getByRole('link').click()
    // A browser does not send strict same-site cookies when another site leads to the page. The page in between must keep the session.
    await forged.getByText('Signed in as the operator').waitFor()
    await visitor.open('/dashboard')
    expect(await page.locator('.row').count()).toBe(before)
    await visitor.leave()
  })

  it('is used with the keyboard alone, and one sees where one is', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    const { page } = visitor
    await visitor.look(1280, 'light')
    await visitor.open('/dashboard')
    await signInByPassword(visitor, PASSWORD)
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    const focusable = 'a[href], input:not([type=hidden]), button, [tabindex="0"]'
    const wanted = await page.locator(focusable).count()
    expect(wanted).toBeGreaterThan(8)
    for (let i = 0; i < wanted; i++) {
      await page.keyboard.press('Tab')
      const place = await page.evaluate((selector) => {
        const all = [...document.querySelectorAll(selector)]
        const one = document.activeElement as Element
        const { outlineStyle, outlineWidth } = getComputedStyle(one)
        return { index: all.indexOf(one), isSeen: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 }
      }, focusable)
      expect(place).toEqual({ index: i, isSeen: true })
    }
    await page.getByLabel('Name').focus()
    await page.keyboard.type('by keyboard')
    await page.keyboard.press('Enter')
    await page.locator('#secret').waitFor()
    await visitor.leave()
  })
})
