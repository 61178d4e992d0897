import { afterEach, describe, expect, it } from 'vitest'
import type { ServiceDefinition } from '../../../../marketplace/services/service.ts'
import { agentCard } from '../../../../rpc/discovery/agent-card.ts'
import { robotsText, sitemap } from '../../../../rpc/discovery/crawlers.ts'
import { llmsFullText, llmsText } from '../../../../rpc/discovery/llms.ts'
import {
  escapeMarkdown,
  escapeMarkup,
  markdownCode,
  shellWord,
  urlInText,
} from '../../../../rpc/discovery/plain-text.ts'
import { cataloguePage } from '../../../../rpc/web/catalogue-page.ts'
import { homePage } from '../../../../rpc/web/home.ts'
import { noServicePage, servicePage } from '../../../../rpc/web/service-page.ts'
import { sellingNode } from '../../../support/discovery-node.ts'
import { closeMarkets } from '../../../support/market.ts'
import { TEST_SERVICES } from '../../../support/test-services.ts'

afterEach(closeMarkets)

/** A hostile name that tries to be read as markup. */
const HOSTILE = '"><script>alert(1)</script>\'](http://evil.example) `rm`\n# Heading\n- [x](y)\u0000\u001b[31m&lt;'
const HOST = 'http://evil.example/"><script>alert(2)</script>)\n\n# Heading'

const controlsIn = (text: string) => [...text].filter((character) => character < ' ' && character !== '\n')

/** A node whose agent and service have the name {@link HOSTILE}. */
async function hostileNode() {
  const [first] = TEST_SERVICES as readonly [ServiceDefinition]
  const service = { ...first, name: HOSTILE, description: HOSTILE, requestFormat: HOSTILE, example: HOSTILE }
  const { node } = await sellingNode({ services: [service], operator: { name: HOSTILE }, published: false })
  return node
}

describe('names that want to be more', () => {
  it('are text in every page', async () => {
    const node = await hostileNode()
    const pages = [
      homePage(node, HOST),
      cataloguePage(node, HOST, {}),
      cataloguePage(node, HOST, { q: HOSTILE, capability: HOSTILE }),
      servicePage(node, HOST, 'node-test-again'),
      noServicePage(HOST, HOSTILE, [HOSTILE]),
    ]
    for (const page of pages) {
      expect(page).toContain('alert(')
      expect(page).not.toMatch(/<script|onerror=/i)
      expect(controlsIn(page!)).toEqual([])
      // Quotes in the names do not end an attribute: every tag is the page's own.
      const tags = [...page!.matchAll(/<\/?([a-z0-9]+)[\s>]/g)].map(([, name]) => name)
      expect(tags).not.toContain('script')
      expect(page!.split('<h1>')).toHaveLength(2)
    }
  })

  it('begin nothing in Markdown', async () => {
    const node = await hostileNode()
    for (const text of [llmsText(node, HOST), llmsFullText(node, HOST)]) {
      expect(text.match(/^# /gm)).toHaveLength(1)
      expect(text).not.toMatch(/^- \[x\]/m)
      expect(controlsIn(text)).toEqual([])
      const outside = text.replace(/```[\s\S]*?```/g, '')
      expect(outside).not.toMatch(/(^|[^\\])<script/)
      expect(outside).not.toMatch(/[^\\]\]\(http:\/\/evil\.example\) /)
    }
  })

  it('are text in XML, and end no line of the rules for crawlers', async () => {
    const node = await hostileNode()
    expect(sitemap(node, HOST)).not.toMatch(/<script/)
    expect(robotsText(HOST).split('\n')).toHaveLength(robotsText('http://here').split('\n').length)
  })

  it('leave the card a document of JSON that says them as they are', async () => {
    const card = agentCard(await hostileNode(), HOST)
    expect(JSON.parse(card as string)).toMatchObject({ name: HOSTILE })
  })
})

describe('text made harmless', () => {
  it('for markup', () => {
    expect(escapeMarkup('a<b>&"\'\u0007\ufffe')).toBe('a&#60;b&#62;&#38;&#34;&#39;')
  })

  it('for Markdown', () => {
    expect(escapeMarkdown('[a](b)\n# c *d* <e> `f` |')).toBe('\\[a\\](b) \\# c \\*d\\* \\<e\\> \\`f\\` \\|')
    expect(markdownCode('a`b``c')).toBe('``` a`b``c ```')
    expect(urlInText('http://a/(b)<c> d')).toBe('http://a/%28b%29%3Cc%3E%20d')
  })

  it('for a shell', () => {
    expect(shellWord("a'; rm -rf $HOME `x`")).toBe("'a'\\''; rm -rf $HOME `x`'")
  })
})
