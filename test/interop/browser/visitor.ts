import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** Starts Debian's Chromium for a container, with its background activity off. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
}

/** Widths of a phone, a tablet and a desktop, in CSS pixels. */
export const WIDTHS = [390, 768, 1440] as const
/** Colour schemes that a visitor may prefer. */
export const SCHEMES = ['light', 'dark'] as const

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa']
const HEIGHT = 900

/** The part of axe-core's violation that is reported. */
interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[]
}

/** A browser page with all its complaints. */
export class Visitor {
  readonly page: Page
  /** Errors and warnings of the console, errors of scripts, and requests that failed or left the node's origin. */
  readonly complaints: string[] = []
  readonly #context: BrowserContext
  readonly #url: string

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.#context = context
    this.page = page
    this.#url = url
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.message}`))
    page.on('requestfailed', (request) => this.complaints.push(`failed: ${request.url()}`))
    page.on('request', (request) => {
      const own = request.url().startsWith(`${url}/`) || request.url().startsWith('data:')
      if (!own) this.complaints.push(`left for: ${request.url()}`)
    })
  }

  /** A visitor at the node's origin in a new browser context, without cookies. */
  static async arrive(browser: Browser, url: string, scripts = true): Promise<Visitor> {
    const context = await browser.newContext({ javaScriptEnabled: scripts })
    return new Visitor(context, await context.newPage(), url)
  }

  /** Opens a page and gives its status. */
  async open(path: string): Promise<number> {
    const response = await this.page.goto(`${this.#url}${path}`, { waitUntil: 'load' })
    return response?.status() ?? 0
  }

  /** Sets the page's width and colour scheme. */
  async look(width: number, scheme: (typeof SCHEMES)[number]): Promise<void> {
    await this.page.setViewportSize({ width, height: HEIGHT })
    await this.page.emulateMedia({ colorScheme: scheme })
  }

  /** How many pixels the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  }

  /** Violations that axe-core finds in the page. */
  async violations(): Promise<readonly string[]> {
    // Injected over the debugger: the page's content policy allows no foreign script.
    await this.page.evaluate(`window.axe === undefined && (() => { ${AXE} })()`)
    const found = (await this.page.evaluate(
      `axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(RULES)} }, resultTypes: ['violations'] }).then((r) => r.violations)`,
    )) as readonly Violation[]
    return found.map(({ id, help, nodes }) => {
      const [first] = nodes
      return `${id}: ${help}: ${first?.target.join(' ')}: ${first?.failureSummary}`
    })
  }

  leave(): Promise<void> {
    return this.#context.close()
  }
}
