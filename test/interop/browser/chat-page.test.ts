import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChatDaemon } from '../../support/chat-daemon.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { openChromium, SCHEMES, Visitor, WIDTHS } from './visitor.ts'

const workshop = new Workshop()
/** Folder for screenshots; none are taken without it. */
const { PICTURES } = process.env
const PRODUCT = {
  ...{ parameters: 'not published', pricing: '$20 a month', context_window: '200k tokens', math: 'strong' },
  ...{ writing: 'strong', coding: 'strong', multimodal: 'yes', web_search: 'yes', speed: 'fast' },
}
const TOLD_OF_404 = 'console: Failed to load resource: the server responded with a status of 404 (Not Found)'

let full: ChatDaemon
let bare: RunningDaemon
let off: RunningDaemon
let browser: Browser

beforeAll(async () => {
  if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true })
  const comparison = workshop.path('comparison.json')
  writeFileSync(comparison, JSON.stringify({ 'Other product': PRODUCT, 'A further one': PRODUCT }))
  ;[full, bare, off] = await Promise.all([
    ChatDaemon.start(workshop, { env: { FARTHING_CHAT_COMPARISON_FILE: comparison } }),
    workshop.start(workshop.folder(), { mine: 0 }),
    workshop.start(workshop.folder(), { mine: 0, env: { FARTHING_CHAT_ENABLED: 'false' } }),
  ])
  for (const model of ['model-1', 'model-4'])
    await (await full.post({ model, messages: [{ role: 'user', content: 'hi' }] })).text()
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await full?.close()
})

/** Checks the open page in every width and scheme. Returns the faults. */
async function faultsOf(visitor: Visitor, name: string): Promise<readonly string[]> {
  const faults: string[] = []
  for (const width of WIDTHS)
    for (const scheme of SCHEMES) {
      await visitor.look(width, scheme)
      const wide = await visitor.overflow()
      if (wide > 0) faults.push(`${width} ${scheme}: ${wide} px too wide`)
      faults.push(...(await visitor.violations()).map((violation) => `${width} ${scheme}: ${violation}`))
      const path = join(PICTURES ?? '', `${name}-${width}-${scheme}.png`)
      if (PICTURES !== undefined) await visitor.page.screenshot({ path, fullPage: true })
    }
  return faults
}

describe('the page of the chat platform in a real browser', () => {
  it.each([
    ['with models', () => full.url, false],
    ['without', () => bare.url, true],
  ] as const)('is sound, reads well and fits in every width and scheme, %s', async (name, url, isBare) => {
    const visitor = await Visitor.arrive(browser, url(), false)
    expect(await visitor.open('/chat')).toBe(200)
    await visitor.leave()
    const scripted = await Visitor.arrive(browser, url())
    await scripted.open('/chat')
    const voice = await scripted.page.locator('#model-voice').innerText()
    expect(voice.includes('unavailable')).toBe(isBare)
    await scripted.page.locator('details').evaluateAll((all) => {
      for (const one of all) (one as HTMLDetailsElement).open = true
    })
    expect(await faultsOf(scripted, `chat-${name.replace(' ', '-')}`)).toEqual([])
    expect(scripted.complaints).toEqual([])
    await scripted.leave()
  })

  it('shows the whole comparison without scrolling in a window of 1100 px', async () => {
    const visitor = await Visitor.arrive(browser, full.url)
    const { page } = visitor
    await page.setViewportSize({ width: 1_100, height: 800 })
    await visitor.open('/chat')
    const region = page.getByRole('region', { name: 'Comparison' })
    expect(await region.getByRole('columnheader').count()).toBe(9)
    expect(await region.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await visitor.leave()
  })

  it('is led to from the other pages, and shows what was measured and what the operator says', async () => {
    const visitor = await Visitor.arrive(browser, full.url, false)
    const { page } = visitor
    await visitor.look(1440, 'light')
    await visitor.open('/')
    await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('heading', { name: 'Free chat with five models', level: 1 }).waitFor()
    expect(await page.locator('#model-1 .figures').innerText()).toMatch(/\d s\s+.*1\s+.*available/s)
    expect(await page.locator('#model-2 .figures').innerText()).toContain('not yet')
    expect(await page.getByRole('row', { name: /^Other product/ }).innerText()).toContain('$20 a month')
    await page.locator('#model-3 summary').click()
    expect(await page.getByRole('list', { name: 'Stages of Model 3' }).getByRole('listitem').count()).toBe(10)
    expect(visitor.complaints).toEqual([])
    await visitor.leave()
  })

  it('is reached and read by keyboard alone', async () => {
    const visitor = await Visitor.arrive(browser, full.url)
    const { page } = visitor
    await visitor.look(1440, 'light')
    await visitor.open('/chat')
    const places = 'a[href], summary, [tabindex="0"]'
    const wanted = await page.locator(places).count()
    expect(wanted).toBeGreaterThan(15)
    for (let i = 0; i < wanted; i++) {
      await page.keyboard.press('Tab')
      const place = await page.evaluate((selector) => {
        const one = document.activeElement as Element
        const { outlineStyle, outlineWidth } = getComputedStyle(one)
        const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
        return { index: [...document.querySelectorAll(selector)].indexOf(one), isSeen }
      }, places)
      expect(place).toEqual({ index: i, isSeen: true })
    }
    await visitor.leave()
  })

  it('says so where the platform is off, and nothing leads there', async () => {
    const visitor = await Visitor.arrive(browser, off.url)
    expect(await visitor.open('/chat')).toBe(404)
    expect(await faultsOf(visitor, 'chat-off')).toEqual([])
    expect(visitor.complaints).toEqual([TOLD_OF_404])
    await visitor.page.getByRole('link', { name: 'What this node is' }).click()
    expect(await visitor.page.getByRole('link', { name: 'Chat', exact: true }).count()).toBe(0)
    await visitor.leave()
  })
})
