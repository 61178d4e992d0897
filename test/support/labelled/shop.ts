import type { LabelledMood } from './moods.ts'

const of = (sentiment: LabelledMood['sentiment'], texts: readonly string[]) =>
  texts.map((text) => ({ text, sentiment }))

/** What a shop reads in a day: reviews, letters of customers and scores. The engine was tuned on these texts. */
export const TUNED_LETTERS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...of('negative', [
    'I would have loved this if it had arrived in one piece.',
    'The old version was better. This one leaks and the colour came off after one wash.',
    'Could be better. Expected more for 80 euros.',
    'I would not recommend this shop to my worst enemy.',
    `Dear team,

thank you for your quick reply. Unfortunately the replacement is also defective. I would appreciate a refund by Friday.

Best regards
Jonas Weber`,
    `Complaint about invoice 2026-118

Dear Sir or Madam, you charged 49.95 although your offer says 45.00. Two of the plates were cracked. Until this is settled we will withhold payment.

Kind regards`,
    '1 star. Would give zero if I could.',
    'WHERE IS MY ORDER??? I WANT TO SPEAK TO A MANAGER!!!',
    "Wouldn't buy again.",
    'Oh great, another broken mug. Thanks a lot, fantastic packaging as always.',
    '<p>The <b>lid</b> leaks.</p><p>I want my money back.</p>',
  ]),
  ...of('positive', ['5/5, exactly as described', 'Thank you so much for the quick help!', 'I would buy it again.']),
  ...of('neutral', ['Dear Mr Falk, the parcel has the number 4477. Kind regards, Shipping']),
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_LETTERS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...of('negative', [
    'It would have been a lovely gift if the clasp had not snapped on the first day.',
    'My previous kettle was better. This one drips and the lid has come off twice.',
    'Should be better for this price. I had hoped for more.',
    'I cannot recommend this seller to my friends.',
    'Dear Sir or Madam, thank you for your quick reply. The second lamp arrived cracked as well. Please arrange a refund by Monday. Kind regards, Ilse',
    'Hello, thanks for your message. Your invoice charges 120.00 although we agreed on 95.00. Until it is corrected we will withhold payment. Best wishes',
    '2/5. The zip jammed and the strap tore.',
    'Zero stars.',
    'WHY HAS NOBODY ANSWERED MY MAILS??? THIS IS MY THIRD COMPLAINT!!!',
    'Will not be ordering from here again.',
    'Oh wonderful, the parcel is lost again. Brilliant service, thank you so much.',
    'One star for the packaging, the cup itself was chipped.',
    'I wish I could give it fewer than one star.',
  ]),
  ...of('positive', [
    '4.5/5 - arrived on time, as described.',
    'Five stars, will buy again.',
    'Would order again.',
    'Dear team, the replacement arrived today and works perfectly. Thank you for the quick help. Kind regards, Tom',
    'I would recommend this shop to anyone.',
  ]),
  ...of('neutral', [
    'Dear team, please send the invoice for order 4411 to our new address. Thank you in advance. Kind regards, Lena Vogt',
    'Dear Ms Novak, the parcel left our warehouse on Tuesday and is due on Friday. Best regards, Shipping',
  ]),
]

/** The turns of a dialogue. `main` are indexes of good headlines, `idle` indexes of turns that no summary needs. */
export interface LabelledChat {
  readonly turns: readonly string[]
  readonly main: readonly number[]
  readonly idle: readonly number[]
  /** Indexes of turns that a summary must have, as headline or point: what was decided, and when. */
  readonly wanted?: readonly number[]
}

/** Texts on which the engine was tuned. */
export const TUNED_CHATS: readonly LabelledChat[] = [
  {
    turns: [
      '[26.11.26, 12:12] Anna: Hello Ben, how are you?',
      '[26.11.26, 12:13] Ben: Hi Anna, fine, thanks!',
      '[26.11.26, 12:14] Anna: Did the mugs for Anna Berg arrive, Ben?',
      '[26.11.26, 12:15] Ben: Twelve of the 40 mugs arrived broken on Tuesday.',
      '[26.11.26, 12:16] Anna: Then we refund 96 euros and send 12 new mugs on Monday.',
      '[26.11.26, 12:17] Ben: The potter wants a photo of every broken mug.',
      '[26.11.26, 12:18] Anna: Thanks Ben, have a nice weekend, bye!',
    ],
    main: [3, 4],
    idle: [0, 1, 2, 6],
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_CHATS: readonly LabelledChat[] = [
  {
    turns: [
      'Agent: Good morning, this is the customer service of Lumen, my name is Petra. How can I help you?',
      'Customer: Good morning Petra.',
      'Customer: The lamp that I ordered on 3 November has not arrived.',
      'Agent: Can you tell me the number of the order?',
      'Customer: The order has the number 88213.',
      'Agent: The parcel is lost, so we send a new lamp on Friday by express.',
      'Customer: Will the new lamp cost anything?',
      'Agent: The express costs nothing, and you get 10 euros back.',
      'Customer: Thank you very much, goodbye.',
    ],
    main: [2, 5, 7],
    idle: [0, 1, 3, 6, 8],
  },
  {
    turns: [
      '12:01 Mara: Hey Tom!',
      '12:01 Tom: Hey Mara, what is up?',
      '12:02 Mara: Is the stall at the fair still free?',
      '12:03 Tom: The stall costs 240 euros for both days.',
      '12:04 Mara: We decided to take the stall for one day.',
      '12:05 Tom: Then the fair wants a deposit of 60 euros by 1 December.',
      '12:06 Mara: I will pay the deposit for the stall tomorrow.',
      '12:07 Tom: Great, see you on the weekend!',
    ],
    main: [3, 4, 5, 6],
    idle: [0, 1, 2, 7],
  },
  {
    turns: [
      '26.11.26, 09:10 - Ole Berg: Hello everyone',
      '26.11.26, 09:11 - Ida Lund: Good morning Ole',
      '26.11.26, 09:12 - Ole Berg: Why did the website go down last night?',
      '26.11.26, 09:14 - Ida Lund: The certificate of the website expired at midnight.',
      '26.11.26, 09:15 - Ole Berg: How long was the website down?',
      '26.11.26, 09:16 - Ida Lund: Seven hours, and we lost about 30 orders.',
      '26.11.26, 09:18 - Ole Berg: From now on the certificate is renewed by the server itself.',
      '26.11.26, 09:19 - Ida Lund: Thanks Ole, talk to you later',
    ],
    main: [3, 5, 6],
    idle: [0, 1, 2, 4, 7],
  },
  {
    turns: [
      'BUYER: Hi there, nice to meet you.',
      'SELLER: Hello, welcome to our shop, nice to meet you too.',
      'BUYER: What does the oak table cost?',
      'SELLER: The oak table costs 890 euros with four chairs.',
      'BUYER: Could you sell the oak table without the chairs?',
      'SELLER: Without the chairs I can sell the table for 620 euros.',
      'BUYER: Agreed, I take the table for 620 and pick it up on Saturday.',
      'SELLER: Perfect, goodbye and have a good day.',
    ],
    main: [3, 5, 6],
    idle: [0, 1, 2, 4, 7],
  },
]

/** A text, the whole names in it, and words that are neither names nor keywords. */
export interface LabelledNames {
  readonly text: string
  readonly names: readonly string[]
  readonly never: readonly string[]
  /** Words that may be keywords but are not names. */
  readonly neverNames?: readonly string[]
}

/** Texts on which the engine was tuned. */
export const TUNED_NAMES: readonly LabelledNames[] = [
  {
    text: `Anna: Good. Held the parcel back as you said.
Ben: Fine. Which of the parcels goes to Gdansk?
Anna: Done. Hallo again from the office in Berlin.
Ben: Mrs Novak pays EUR 45 for it.`,
    names: ['Gdansk', 'Berlin', 'Novak'],
    never: ['good', 'held', 'fine', 'done', 'which', 'hallo', 'mrs', 'eur', 'eur 45'],
  },
  {
    text: `Complaint about order 118

Dear Sir or Madam,
Refund the deposit to Piotr Wi\u015bniewski of Baltyk Meble Sp. z o.o. in Sopot, please.

Purchasing
Hanna Kowalska`,
    names: ['Piotr Wi\u015bniewski', 'Baltyk Meble Sp. z o.o.', 'Sopot', 'Hanna Kowalska'],
    never: ['complaint', 'refund', 'sir', 'madam', 'purchasing', 'piotr', 'wi\u015bniewski', 'sp', 'baltyk meble sp'],
  },
  {
    text: '"We bought the chairs in Freiburg." - Sabine W. from Kassel wrote this under the chairs.',
    names: ['Freiburg', 'Kassel'],
    never: ['freiburg." - sabine w', 'freiburg sabine w', 'freiburg." - sabine'],
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_NAMES: readonly LabelledNames[] = [
  {
    text: `Lena: Great. Packed the vases this morning.
Paul: Perfect. Whose vases go to Rotterdam?
Lena: Sorted. Hello from the fair in Cologne.
Paul: Mr Duarte still owes us USD 300.`,
    names: ['Rotterdam', 'Cologne', 'Duarte'],
    never: ['great', 'packed', 'perfect', 'whose', 'sorted', 'hello', 'mr', 'usd', 'lena', 'paul'],
  },
  {
    text: `Reminder: invoice 2207

Dear Madam,
Payment for the looms has not reached us. Agnieszka W\u00f3jcik of Polna Tkanina S.A. in Lublin will call you.

Accounting
Tomasz Zieli\u0144ski`,
    names: ['Agnieszka W\u00f3jcik', 'Polna Tkanina S.A.', 'Lublin', 'Tomasz Zieli\u0144ski'],
    never: ['reminder', 'madam', 'payment', 'accounting', 'agnieszka', 'w\u00f3jcik', 'tomasz', 'zieli\u0144ski'],
  },
  {
    text: '\u201cThe best bakery in Utrecht!\u201d \u2013 Marijke de Boer, regular guest. \u201cWarm bread at six in the morning.\u201d \u2013 Joris P.',
    names: ['Utrecht', 'Marijke de Boer'],
    never: ['warm', 'utrecht!\u201d \u2013 marijke de boer', 'utrecht marijke de boer'],
  },
  {
    text: `Delivery to Keller & Braun GmbH
Received 40 boxes in Hamburg on Monday.
Checked by Ingrid Solberg.
Missing: two boxes of cups.
Regards
Warehouse`,
    names: ['Hamburg', 'Ingrid Solberg', 'Keller & Braun GmbH'],
    never: ['delivery', 'received', 'checked', 'missing', 'regards', 'warehouse'],
  },
]
