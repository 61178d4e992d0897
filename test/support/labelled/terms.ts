import type { LabelledChat, LabelledNames } from './shop.ts'
import type { LabelledUnits } from './units.ts'

/**
 * Terms of sale, and lists with a line behind them: parts that a summary may show, and good headlines. The engine was
 * tuned on these texts.
 */
export const TUNED_TERMS: readonly LabelledUnits[] = [
  {
    kind: 'review',
    main: [0],
    parts: [
      'These terms apply to all deliveries of T\u00f6pferei Gr\u00fcnwald to commercial customers.',
      'All prices are net in euros, and VAT is added to them.',
      'Invoices are due within 14 days without deduction.',
      'Delivery is made within seven days to the address of the customer.',
      'Goods remain our property until they are paid in full.',
      'Defects must be told within seven days of the delivery.',
      'We are liable for intent and gross negligence only.',
      'Place of jurisdiction is Munich.',
    ],
    text: '1. Scope. These terms apply to all deliveries of T\u00f6pferei Gr\u00fcnwald to commercial customers. 2. Prices. All prices are net in euros, and VAT is added to them. 3. Payment. Invoices are due within 14 days without deduction. 4. Delivery. Delivery is made within seven days to the address of the customer. 5. Retention of title. Goods remain our property until they are paid in full. 6. Defects. Defects must be told within seven days of the delivery. 7. Liability. We are liable for intent and gross negligence only. 8. Place of jurisdiction is Munich.',
  },
  {
    kind: 'list',
    main: [0, 1, 2, 3, 4],
    parts: [
      'forty mugs and twelve bowls',
      'the card reader with its charger',
      'price tags and a pen',
      'table cloth, 3 m',
      'We leave on Thursday at 6 am from the workshop. Marek drives the van.',
    ],
    text: `For the fair:
- forty mugs and twelve bowls
- the card reader with its charger
- price tags and a pen
- table cloth, 3 m
We leave on Thursday at 6 am from the workshop. Marek drives the van.`,
  },
  {
    kind: 'review',
    main: [0],
    parts: [
      'This policy sets out how the studio handles the data of its guests.',
      'We keep names and addresses for as long as a booking is open.',
      'Photos of guests are shown only with their consent.',
      'Every guest may ask which data we keep.',
      'Questions about data go to the owner of the studio.',
    ],
    text: '\u00a7 1 Purpose. This policy sets out how the studio handles the data of its guests. \u00a7 2 Storage. We keep names and addresses for as long as a booking is open. \u00a7 3 Photos. Photos of guests are shown only with their consent. \u00a7 4 Rights. Every guest may ask which data we keep. \u00a7 5 Contact. Questions about data go to the owner of the studio.',
  },
  {
    kind: 'list',
    main: [0, 1, 2, 3],
    parts: [
      'twelve plates for the Harbour Inn',
      'a jug with a lid',
      'two samples of the blue glaze',
      'The courier comes at four. Please have all of it packed by then.',
    ],
    text: `To pack today:
* twelve plates for the Harbour Inn
* a jug with a lid
* two samples of the blue glaze

The courier comes at four. Please have all of it packed by then.`,
  },
  {
    kind: 'review',
    main: [0],
    parts: [
      'The course teaches beginners to throw and glaze bowls on four evenings.',
      'The fee of 160 euros for the course is due with the booking.',
      'A booking can be cancelled without a fee up to ten days before the course.',
      'Bowls that are not fetched within a month after the course are thrown away.',
      'The studio may move an evening of the course if the teacher is ill.',
    ],
    text: '1) The course teaches beginners to throw and glaze bowls on four evenings. 2) The fee of 160 euros for the course is due with the booking. 3) A booking can be cancelled without a fee up to ten days before the course. 4) Bowls that are not fetched within a month after the course are thrown away. 5) The studio may move an evening of the course if the teacher is ill.',
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_TERMS: readonly LabelledUnits[] = [
  {
    kind: 'review',
    main: [0],
    parts: [
      'This agreement is made between Halden Looms Ltd. and the weaver named above.',
      'The weaver rents one loom for twelve months.',
      'The rent is 90 pounds a month, due on the first day of each month.',
      'The weaver keeps the loom clean and tells damage within two days.',
      'Halden Looms repairs the loom at its own cost unless the weaver caused the damage.',
      'Either party may end the rent of the loom with one month of notice.',
      'The law of Scotland applies to the rent of the loom.',
    ],
    text: '1. Parties. This agreement is made between Halden Looms Ltd. and the weaver named above. 2. Object. The weaver rents one loom for twelve months. 3. Rent. The rent is 90 pounds a month, due on the first day of each month. 4. Care. The weaver keeps the loom clean and tells damage within two days. 5. Repairs. Halden Looms repairs the loom at its own cost unless the weaver caused the damage. 6. Notice. Either party may end the rent of the loom with one month of notice. 7. Law. The law of Scotland applies to the rent of the loom.',
  },
  {
    kind: 'list',
    main: [0, 1, 2, 3],
    parts: [
      'Unpack the kiln and check the door for cracks',
      'Connect the kiln to a socket of its own,\n   never to a power strip',
      'Run the empty kiln at 600 degrees for one hour',
      'The warranty of the kiln ends when another person than an electrician opens it.',
    ],
    text: `1. Unpack the kiln and check the door for cracks
2. Connect the kiln to a socket of its own,
   never to a power strip
3. Run the empty kiln at 600 degrees for one hour
The warranty of the kiln ends when another person than an electrician opens it.`,
  },
]

/** Dialogues with a decision and dates that a summary must have. The engine was tuned on these texts. */
export const TUNED_DECISIONS: readonly LabelledChat[] = [
  {
    turns: [
      'Anna: Hi, my parcel 55120 has not arrived.',
      'Shop: Hello Anna, I am sorry. Let me look.',
      'Shop: The carrier says that it was lost in Leipzig on 14 November.',
      'Anna: So what happens now?',
      'Shop: We can send a new mug on Monday, or refund 43.90 euros.',
      'Anna: I need it for a birthday on Saturday, so refund please.',
      'Shop: Done. The money will be with you by Thursday.',
      'Anna: Thanks. A pity, I liked the mug.',
    ],
    main: [0, 2, 4, 6],
    idle: [1, 3, 7],
    wanted: [2, 6],
  },
  {
    turns: [
      'Mia: The kiln broke again, the third time this winter.',
      'Jo: Oh no. That is really annoying.',
      'Mia: A new heating coil costs 210 euros and takes until 3 March.',
      'Jo: And a new kiln?',
      'Mia: A used one from Marta is 900 euros, we could fetch it on Sunday.',
      'Jo: Sounds good to me, honestly.',
      'Mia: Then it is settled, we take the kiln of Marta.',
      'Jo: I like her kiln. It has such a nice door.',
    ],
    main: [0, 2, 4, 6],
    idle: [1, 3, 5, 7],
    wanted: [4, 6],
  },
  {
    turns: [
      'Eva: The colour of the tiles is not what we agreed.',
      'Karl: Oh dear, let me have a look at the photo.',
      'Karl: You are right, that is the wrong glaze.',
      'Eva: Can you fire them again before the opening on 2 May?',
      'Karl: The kiln is free from 24 April.',
      'Eva: That is cutting it fine.',
      'Karl: I will fire them on the 24th and bring them myself on the 28th.',
      'Eva: Perfect, that is a load off my mind.',
      'Karl: And you pay nothing for the second firing.',
    ],
    main: [0, 4, 6, 8],
    idle: [1, 3, 5, 7],
    wanted: [4, 6],
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_DECISIONS: readonly LabelledChat[] = [
  {
    turns: [
      'Guest: Good evening, I booked the double room from 4 to 7 May.',
      'Hotel: Good evening, how can we help?',
      'Guest: My train is cancelled, so I will only be there on the 5th.',
      'Hotel: What a pity, we had prepared everything.',
      'Guest: Do I have to pay for the first night?',
      'Hotel: The first night costs half, that is 48 euros.',
      'Guest: All right, please change the booking.',
      'Hotel: It is changed. Breakfast is from seven to ten.',
      'Guest: Wonderful, I love a long breakfast.',
    ],
    main: [0, 2, 5],
    idle: [1, 3, 4, 8],
    wanted: [2, 5],
  },
  {
    turns: [
      'Kim: Did you talk to the printer about the posters?',
      'Lou: Yes. He prints 300 posters for 120 euros.',
      'Kim: Hm, I thought he was cheaper.',
      'Lou: With matt paper it would be 95.',
      'Kim: Matt is fine for me.',
      'Lou: Okay, I have ordered 300 on matt paper.',
      'Kim: When can we fetch them?',
      'Lou: They are ready on Friday at noon.',
      'Kim: Cool, I am looking forward to them.',
    ],
    main: [1, 3, 5, 7],
    idle: [0, 2, 6, 8],
    wanted: [5, 7],
  },
  {
    turns: [
      'TENANT: The heating in the flat has been cold since 2 December.',
      'LANDLORD: That is strange, the boiler is new.',
      'TENANT: It is freezing in here.',
      'LANDLORD: The plumber comes tomorrow between nine and eleven.',
      'TENANT: I am at work then. Could the caretaker let him in?',
      'LANDLORD: Agreed, the caretaker opens the flat.',
      'TENANT: And the rent?',
      'LANDLORD: You may keep back 15 percent of the rent until the heating works.',
      'TENANT: That is fair.',
    ],
    main: [0, 3, 7],
    idle: [2, 6, 8],
    wanted: [3, 5, 7],
  },
]

/** Clauses, addresses and numbers, with the names in them. The engine was tuned on these texts. */
export const TUNED_HEADINGS: readonly LabelledNames[] = [
  {
    text: TUNED_TERMS[0]?.text ?? '',
    names: ['T\u00f6pferei Gr\u00fcnwald', 'Munich'],
    never: [],
    neverNames: [
      'scope',
      'prices',
      'vat',
      'payment',
      'delivery',
      'retention',
      'defects',
      'liability',
      'place',
      'goods',
      'invoices',
    ],
  },
  {
    text: 'Our workshop moved to 4 Mill Lane, Bristol BS1 5TY. The VAT id of Harbour Pots Ltd is GB123456789. Handling of parcels takes a day.',
    names: ['Bristol', 'Harbour Pots Ltd'],
    never: ['bristol bs1', 'bs1', '5ty', 'bs1 5ty', 'gb123456789', 'bristol bs1 5ty'],
    neverNames: ['handling', 'vat'],
  },
  {
    text: '\u00a7 1 Purpose. The club Keramikfreunde Altona runs a kiln. \u00a7 2 Membership. Members pay 40 euros a year to the treasurer Birgit Holm. \u00a7 3 Liability. The club is not liable for broken pieces. \u00a7 4 Seat of the club is Hamburg.',
    names: ['Keramikfreunde Altona', 'Birgit Holm', 'Hamburg'],
    never: [],
    neverNames: ['purpose', 'membership', 'members', 'liability', 'seat'],
  },
  {
    text: 'Invoice to Craig Duffy, 8 Shore Street, Oban PA34 4AQ, VAT GB 987 6543 21. Transport of the kiln is paid by Kintyre Clay Ltd. Breakage of pieces is insured.',
    names: ['Craig Duffy', 'Kintyre Clay Ltd', 'Oban'],
    never: ['oban pa34', 'pa34', '4aq', 'gb'],
    neverNames: ['invoice', 'transport', 'breakage', 'vat', 'vat gb', 'vat gb 987'],
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_HEADINGS: readonly LabelledNames[] = [
  {
    text: '1. Definitions. A buyer is a person who orders from Nordlicht Keramik. 2. Warranty. The warranty ends after two years. 3. Returns. Returns are sent to Flensburg. 4. Transfer of risk. Risk passes with the parcel. 5. Applicable law. The law of Denmark applies.',
    names: ['Nordlicht Keramik', 'Flensburg', 'Denmark'],
    never: [],
    neverNames: ['definitions', 'warranty', 'returns', 'transfer', 'risk', 'applicable', 'applicable law'],
  },
  {
    text: `Please send the crate to Hamish Orr, 12 Quay Street, Leith EH6 6LU.
Our VAT number is DE811234567, his is ATU12345678.
Collection of the crate is on Monday. Storage of crates costs extra.`,
    names: ['Hamish Orr', 'Leith'],
    never: ['leith eh6', 'eh6', '6lu', 'eh6 6lu', 'de811234567', 'atu12345678', 'leith eh6 6lu'],
    neverNames: ['collection', 'storage'],
  },
  {
    text: `1. Anna Berg.
2. Piotr Nowak.
3. Berlin.
Distribution of keys begins at nine. Anna Berg has the key of the hall in Berlin.`,
    names: ['Anna Berg', 'Piotr Nowak', 'Berlin'],
    never: [],
    neverNames: ['distribution'],
  },
]
