/** A text that is not prose, and the whole parts that its summary may show. */
export interface LabelledUnits {
  readonly kind: 'dialogue' | 'list' | 'review' | 'code'
  readonly text: string
  /** Parts that a summary may show: whole turns, items, sentences or comments. */
  readonly parts: readonly string[]
  /** Indexes of the parts that are good headlines. */
  readonly main: readonly number[]
}

const lined = (
  kind: LabelledUnits['kind'],
  main: readonly number[],
  parts: readonly string[],
  mark = '',
  head = '',
): LabelledUnits => ({ kind, main, parts, text: head + parts.map((part) => mark + part).join('\n') })

/** Texts on which the engine was tuned. */
export const TUNED_UNITS: readonly LabelledUnits[] = [
  lined(
    'dialogue',
    [0, 1, 2, 3],
    [
      'Anna: We have to move the launch of the app. The payment test failed again.',
      'Ben: How long? The press has the date of the launch.',
      'Anna: Two weeks. The bank needs a week to fix the payment test on its side.',
      'Ben: Then I call the press today and tell them the launch is on the 14th.',
      'Anna: Good. I write to the bank.',
      'Ben: And to the testers of the app, please.',
    ],
  ),
  lined(
    'list',
    [0, 1, 2, 4],
    [
      'Login with a passkey on phones and laptops',
      'Faster search in long chat histories',
      'Search results can be sorted by date',
      'New dark theme',
      'Chat histories can be exported as a file, with all pictures',
      'Fixed: crash on start with an empty chat history',
    ],
    '- ',
    'New in version 4:\n\n',
  ),
  lined(
    'review',
    [0, 1, 3],
    [
      'I bought this vacuum cleaner in May and I use it twice a week.',
      'It picks up dog hair better than any vacuum cleaner I have had.',
      'My only complaint is the battery.',
      'The battery of the vacuum cleaner lasts fifteen minutes, which is not enough for my flat.',
      'I asked the shop for a bigger battery.',
      'They never answered.',
    ].map((s) => s),
  ),
  {
    kind: 'code',
    main: [0, 1, 2],
    parts: [
      'Reads a file of prices and returns the mean of each month.',
      'Months without prices are left out of the mean.',
      'Prices are in cents, so the mean is rounded to a whole number.',
    ],
    text: `// Reads a file of prices and returns the mean of each month.
export function means(path: string): Map<string, number> {
  const months = new Map<string, number[]>()
  for (const line of readFileSync(path, 'utf8').split('\\n')) {
    const [day, price] = line.split(';')
    // Months without prices are left out of the mean.
    if (day === undefined || price === undefined) continue
    months.set(day.slice(0, 7), [...(months.get(day.slice(0, 7)) ?? []), Number(price)])
  }
  /* Prices are in cents, so the mean is rounded to a whole number. */
  return new Map([...months].map(([month, prices]) => [month, Math.round(sum(prices) / prices.length)]))
}
`,
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_UNITS: readonly LabelledUnits[] = [
  lined(
    'dialogue',
    [0, 1, 2, 3, 4],
    [
      'INTERVIEWER: What made you leave the bank? You had worked there for ten years.',
      'DR. OKORO: I wanted to build wells. The bank lent money for wells that no village had asked for.',
      'INTERVIEWER: Who pays for the wells now?',
      'DR. OKORO: The villages pay a third. They look after wells that they have paid for themselves.',
      'INTERVIEWER: How many wells have you built?',
      'DR. OKORO: Sixty-two. Four of them ran dry, and we dug them deeper.',
    ],
  ),
  lined(
    'list',
    [0, 1, 2, 3],
    [
      'Bring a passport that is valid for six months',
      'Pay the visa fee in cash at the border',
      'Keep the receipt of the visa fee. You need it when you leave',
      'Children under 12 need a passport of their own, but pay no visa fee',
      'No drones',
    ],
    '* ',
    'Before you travel:\n',
  ),
  {
    kind: 'list',
    main: [0, 1, 2],
    parts: [
      'Soak the beans in cold water over night.',
      'Fry onions and garlic, then add the beans and fresh water.',
      'Cook the beans for an hour. Do not add salt before they are soft.',
      'Serve with rice.',
    ],
    text: `1. Soak the beans in cold water over night.
2. Fry onions and garlic, then add the beans and fresh water.
3. Cook the beans for an hour. Do not add salt before they are soft.
4. Serve with rice.`,
  },
  lined(
    'review',
    [0, 1, 2],
    [
      'We stayed at the Harbour Inn for three nights in June.',
      'I have rarely seen a hotel as clean as the Harbour Inn.',
      'Our room looked out on the harbour, and I slept with the windows open.',
      'My husband found the breakfast a little dull.',
      'I would book the same room again.',
    ],
  ),
  {
    kind: 'code',
    main: [0, 1, 2, 3],
    parts: [
      'Keeps the newest rows of a table in memory.',
      'Old rows are dropped when the cache is full.',
      'The lock is held while rows are dropped.',
      'Returns the row or None.',
    ],
    text: `# Keeps the newest rows of a table in memory.
class Cache:
    def __init__(self, size):
        self.size = size
        self.rows = OrderedDict()
        self.lock = Lock()

    # Old rows are dropped when the cache is full.
    def put(self, key, row):
        # The lock is held while rows are dropped.
        with self.lock:
            self.rows[key] = row
            while len(self.rows) > self.size:
                self.rows.popitem(last=False)

    def get(self, key):
        # Returns the row or None.
        return self.rows.get(key)
`,
  },
]

/** Programs without comments: they have nothing to summarise. */
export const SILENT_CODE: readonly string[] = [
  `function add(a, b) {
  return a + b;
}
const total = [1, 2, 3].reduce(add, 0);
if (total > 5) { console.log(total); process.exit(1); }
module.exports = { add, total };
for (let i = 0; i < 10; i++) { console.log(i * total); }`,
  `SELECT c.id, c.name, SUM(o.total) AS total FROM customers c
JOIN orders o ON o.customer_id = c.id WHERE o.created_at > '2024-01-01'
GROUP BY c.id, c.name HAVING SUM(o.total) > 100 ORDER BY total DESC;
DELETE FROM sessions WHERE expires_at < NOW();
UPDATE customers SET active = 0 WHERE id NOT IN (SELECT customer_id FROM orders);`,
]
