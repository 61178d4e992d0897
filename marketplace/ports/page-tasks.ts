/** A body as it came from the web, for the engines. */
export interface PageBody {
  readonly bytes: Uint8Array
  /** Media type without parameters, lower case. */
  readonly mediaType: string
  /** Charset that the header names, if any. */
  readonly charset: string | null
  /** Where it was read, after redirects: relative addresses are relative to this. */
  readonly url: string
}

/** A page as clean text. */
export interface Article {
  readonly title: string | null
  readonly lang: string | null
  readonly byline: string | null
  readonly excerpt: string | null
  /** ISO 8601, where the page tells. */
  readonly publishedAt: string | null
  readonly text: string
  readonly markdown: string
  readonly charset: string
  /** What named the charset; `guess` where nothing did, or what was named is unknown. */
  readonly charsetFrom: 'bom' | 'header' | 'markup' | 'guess'
  /** Of the whole text, however much of it is handed on. */
  readonly wordCount: number
  /** Whether text or markdown were cut at their bounds. */
  readonly truncated: boolean
  /** Whether the main content was found; else it is the text of the whole page. */
  readonly readability: boolean
}

/** What the head of a page says about it. */
export interface PageMeta {
  readonly title: string | null
  readonly description: string | null
  readonly canonical: string | null
  readonly siteName: string | null
  readonly ogImage: string | null
  readonly ogType: string | null
  readonly favicon: string | null
  readonly twitterCard: string | null
  readonly lang: string | null
  readonly feeds: readonly { readonly title: string | null; readonly url: string; readonly type: string }[]
}

/** A feed of any of the formats. */
export interface FeedContent {
  readonly format: 'rss' | 'atom' | 'rdf' | 'json'
  readonly title: string | null
  readonly link: string | null
  readonly language: string | null
  readonly updated: string | null
  readonly items: readonly FeedItem[]
  /** Items of the feed in all. */
  readonly total: number
}

/** An entry of a feed, as plain text. */
export interface FeedItem {
  readonly title: string | null
  readonly link: string | null
  readonly id: string | null
  readonly published: string | null
  readonly author: string | null
  readonly summary: string | null
}

/** Work on pages. A body that is not what the task reads is `engine/refused`. */
export interface PageTasks {
  readonly 'page/article': { readonly input: PageBody; readonly output: Article }
  readonly 'page/meta': { readonly input: PageBody; readonly output: PageMeta }
  readonly 'page/feed': { readonly input: PageBody & { readonly itemsMax: number }; readonly output: FeedContent }
}
