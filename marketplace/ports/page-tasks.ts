/** A body from the web, for the engines. */
export interface PageBody {
  readonly bytes: Uint8Array
  /** Media type without parameters, lower case. */
  readonly mediaType: string
  /** From the header. */
  readonly charset: string | null
  /** Address after redirects, to which relative links refer. */
  readonly url: string
}

/** The main text of a page. */
export interface Article {
  readonly title: string | null
  readonly lang: string | null
  readonly byline: string | null
  readonly excerpt: string | null
  /** ISO 8601; null if the page does not tell. */
  readonly publishedAt: string | null
  readonly text: string
  readonly markdown: string
  readonly charset: string
  /** Where the charset comes from. `guess`: it was not named, or the name is unknown. */
  readonly charsetFrom: 'bom' | 'header' | 'markup' | 'guess'
  /** Counted before any cut. */
  readonly wordCount: number
  /** Whether text or Markdown were cut at their limits. */
  readonly truncated: boolean
  /** Whether the main content was found. Otherwise `text` is that of the whole page. */
  readonly readability: boolean
}

/** Metadata in the head of a page. */
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

/** A feed in any supported format. */
export interface FeedContent {
  readonly format: 'rss' | 'atom' | 'rdf' | 'json'
  readonly title: string | null
  readonly link: string | null
  readonly language: string | null
  readonly updated: string | null
  readonly items: readonly FeedItem[]
  /** Number of all items in the feed, listed or not. */
  readonly total: number
}

/** Texts are plain, without markup. */
export interface FeedItem {
  readonly title: string | null
  readonly link: string | null
  readonly id: string | null
  readonly published: string | null
  readonly author: string | null
  readonly summary: string | null
}

/** Tasks on pages. A body of the wrong type is `engine/refused`. */
export interface PageTasks {
  readonly 'page/article': { readonly input: PageBody; readonly output: Article }
  readonly 'page/meta': { readonly input: PageBody; readonly output: PageMeta }
  readonly 'page/feed': { readonly input: PageBody & { readonly itemsMax: number }; readonly output: FeedContent }
}
