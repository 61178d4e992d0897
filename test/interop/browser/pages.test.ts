import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SERVICE_TABLE } from '../../../marketplace/services/table.ts'
import { ask } from '../../support/api.ts'
import { Caller, marketOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { openChromium, SCHEMES, Visitor, WIDTHS } from './visitor.ts'

const workshop = new Workshop()
/** Blocks come often enough for a test, and seldom enough to check a page in between. */
const env = { TEST_FAST_BLOCKS: '500' }
/** Folder for screenshots; none are taken without it. */
const { PICTURES } = process.env
const SERVICES = [...SERVICE_TABLE.map(({ serviceId }) => serviceId as string), 'node-test-once', 'node-test-closed']
const PAGES = [
  '/',
  '/agents',
  '/agents?q=price&capability=pricing',
  '/agents?q=nothing+like+this',
  ...SERVICES.map((serviceId) => `/agents/${serviceId}`),
]
/** Pages with different layouts; every other page is laid out as one of them. */
const MATRIX = new Set(['/', '/agents', '/agents/node-test-once', '/agents/node-test-closed'])
const UNKNOWN = '/agents/node-price'
/** Chromium logs every answer that is not a success. On a 404 page this must be the only complaint. */
const TOLD_OF_404 = 'console: Failed to load resource: the server responded with a status of 404 (Not Found)'

let daemon: RunningDaemon
let browser: Browser

beforeAll(async () => {
  if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true })
  daemon = await workshop.start(workshop.folder(), { env })
  await marketOpen(daemon.url)
  const buyer = new Caller(daemon.url, 1)
  for (const request of ['ok', 'fail']) {
    await buyer.settle(await buyer.payMined({ serviceId: 'node-test-once', request }))
  }
  await until('the record is on chain', async () => {
    const { body } = await ask<Registry>(daemon.url, '/services.json?q=node-test-once')
    const { delivered, refunds } = body.services[0]!.reputation
    return delivered === 1 && refunds === 1
  })
  browser = await openChromium()
})
afterAll(() => browser?.close())

interface Registry {
  readonly services: readonly { readonly reputation: { readonly delivered: number; readonly refunds: number } }[]
}

/** A width and a colour scheme, and whether axe checks it. */
interface Look {
  readonly width: number
  readonly scheme: (typeof SCHEMES)[number]
  readonly isAsked: boolean
}

const [PHONE, , DESK] = WIDTHS
/** Axe checks every scheme and both layouts of pages. Overflow is checked in each look. */
const LOOKS: readonly Look[] = WIDTHS.flatMap((width) =>
  SCHEMES.map((scheme) => ({ width, scheme, isAsked: width === (scheme === 'light' ? PHONE : DESK) })),
)
/** Content overflows first in the narrowest window. */
const NARROW = LOOKS.slice(0, 1)

/** Checks the open page. Returns the faults. */
async function faultsOf(visitor: Visitor, path: string, looks: readonly Look[]): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { width, scheme, isAsked } of looks) {
    await visitor.look(width, scheme)
    const wide = await visitor.overflow()
    if (wide > 0) faults.push(`${path} ${width} ${scheme}: ${wide} px too wide`)
    const violations = isAsked ? await visitor.violations() : []
    faults.push(...violations.map((violation) => `${path} ${width} ${scheme}: ${violation}`))
    const name = `${path.replace(/[^a-z0-9]+/g, '-')}-${width}-${scheme}.png`
    if (PICTURES !== undefined) await visitor.page.screenshot({ path: join(PICTURES, name), fullPage: true })
  }
  return faults
}

describe('a page in a real browser', () => {
  it.each([...MATRIX])('%s is sound, reads well and fits in every width and scheme', async (path) => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    expect(await visitor.open(path)).toBe(200)
    expect(await faultsOf(visitor, path, LOOKS)).toEqual([])
    expect(visitor.complaints).toEqual([])
    await visitor.leave()
  })

  it('is sound, reads well and fits a phone, whichever service it shows and whatever is searched', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    const faults: string[] = []
    for (const path of PAGES.filter((page) => !MATRIX.has(page))) {
      expect([path, await visitor.open(path)]).toEqual([path, 200])
      faults.push(...(await faultsOf(visitor, path, NARROW)))
    }
    expect(faults).toEqual([])
    expect(visitor.complaints).toEqual([])
    await visitor.leave()
  })

  it('says as well that there is no such service, and what may have been meant', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    expect(await visitor.open(UNKNOWN)).toBe(404)
    expect(await faultsOf(visitor, UNKNOWN, LOOKS)).toEqual([])
    expect(visitor.complaints).toEqual([TOLD_OF_404])
    await visitor.page.getByRole('link', { name: 'node-price-feed' }).click()
    await visitor.page.getByRole('heading', { name: 'Price feed', level: 1 }).waitFor()
    await visitor.leave()
  })

  it('runs no script that a name would bring', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    const hostile = '"><script>window.hurt=1</script><img src=x onerror=window.hurt=1>'
    await visitor.open(`/agents?q=${encodeURIComponent(hostile)}`)
    await visitor.open(`/agents/${encodeURIComponent(hostile)}`)
    expect(await visitor.page.evaluate('window.hurt')).toBeUndefined()
    expect(await visitor.page.locator('main img, main script').count()).toBe(0)
    expect(visitor.complaints).toEqual([TOLD_OF_404])
    await visitor.leave()
  })
})

describe('the catalogue', () => {
  it.each([true, false])('is filtered and searched by a plain form (scripts on: %s)', async (scripts) => {
    const visitor = await Visitor.arrive(browser, daemon.url, scripts)
    const { page } = visitor
    await visitor.open('/agents')
    expect(await page.locator('.row').count()).toBe(SERVICE_TABLE.length + 3)
    await page.getByLabel('Capability').selectOption('audit')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/capability=audit/)
    expect(await page.locator('.row h2').allTextContents()).toEqual(['Token audit', 'Supply audit'])
    await page.getByLabel('Search').fill('collateral')
    await page.getByLabel('Search').press('Enter')
    await page.waitForURL(/q=collateral/)
    expect(await page.locator('.row h2').allTextContents()).toEqual(['Token audit'])
    expect(await page.getByRole('status').textContent()).toContain('“collateral” of the capability audit')
    await page.getByRole('link', { name: 'Token audit' }).click()
    await page.getByRole('heading', { name: 'Token audit', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Services' }).first().click()
    expect(await page.locator('.row').count()).toBe(SERVICE_TABLE.length + 3)
    expect(visitor.complaints).toEqual([])
    await visitor.leave()
  })

  it('shows what the chain has recorded of a service, and why another cannot be bought', async () => {
    const visitor = await Visitor.arrive(browser, daemon.url)
    await visitor.open('/agents/node-test-once')
    const record = await visitor.page.locator('.pairs').innerText()
    expect(record).toMatch(/Success rate\s+50 %/)
    expect(record).toMatch(/Refunds\s+1 \(1 failed, 0 expired\)/)
    expect(record).toMatch(/Distinct payers\s+1\n/)
    await visitor.open('/agents/node-test-closed')
    expect(await visitor.page.locator('.banner').innerText()).toMatch(/^unavailable\s+its provider is down$/)
    await visitor.leave()
  })
})

describe('the keyboard', () => {
  it.each(['/', '/agents', '/agents/node-token-audit'])(
    'reaches everything of %s, and one sees where it is',
    async (path) => {
      const visitor = await Visitor.arrive(browser, daemon.url)
      const { page } = visitor
      await visitor.look(1440, 'light')
      await visitor.open(path)
      const wanted = await page.locator('a[href], input, select, button, [tabindex="0"]').count()
      expect(wanted).toBeGreaterThan(5)
      for (let i = 0; i < wanted; i++) {
        await page.keyboard.press('Tab')
        const place = await page.evaluate(() => {
          const all = [...document.querySelectorAll('a[href], input, select, button, [tabindex="0"]')]
          const one = document.activeElement as Element
          const { outlineStyle, outlineWidth } = getComputedStyle(one)
          const { right, bottom } = one.getBoundingClientRect()
          const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && right > 0 && bottom > 0
          return { index: all.indexOf(one), isSeen }
        })
        expect(place).toEqual({ index: i, isSeen: true })
      }
      await visitor.leave()
    },
  )
})
