"""The sentences of the offline rules. Plain, short, and they say what happens next.

Everything in braces is filled with facts of this run. No sentence holds a number of its own.
"""

from __future__ import annotations

# --- asking back ------------------------------------------------------------------------------
NEED_IDENTITY = (
    "To look at an order I need to know that it is yours. Please sign in, or give the order number "
    "and the e-mail address it was placed with in the form below."
)
NEED_ACCOUNT = (
    "For this I need to know who you are. Please sign in, or show one order with its number and "
    "e-mail address in the form below."
)
IDENTITY_MARK = "in the form below"
WHICH_ORDER = "Which order do you mean? I can see these:"
WHICH_MARK = "Which order do you mean?"
NONE_THAT_DAY = "I see no order of yours from {day}."
NO_ORDERS = (
    "I see no order for you. If you used another e-mail address, show the order with its number "
    "and that address."
)
NONE_OTHER = "I see no other order of yours."
NONE_FITS = "None of your orders is still open."
OFFER_PERSON = "Would you like me to pass this to a person?"
OFFER_DEED = "Would you like me to ask our team for {wish}?"
OFFER_MARKS = ("Would you like me to pass this to a person?", "Would you like me to ask our team")

# --- orders -----------------------------------------------------------------------------------
ORDER_LINE = "Order {number}{placed}: {state}{items}"
ORDER_NAME = "Order {number}{items}"
ORDER_STATES = {
    "pending": "{order} has been received and is not packed yet.",
    "items_changed": "{order} has been received and changed once, and is not packed yet.",
    "processed": "{order} is packed and waits for the carrier.",
    "shipped": "{order} is on its way.",
    "delivered": "{order} was delivered{on}.",
    "cancelled": "{order} is cancelled.",
    "return_requested": "{order} was delivered{on}, and a return has been requested.",
    "returned": "{order} has been returned.",
    "exchange_requested": "{order} was delivered{on}, and an exchange has been requested.",
    "exchanged": "{order} has been exchanged.",
}
ORDER_OTHER_STATE = "{order}: {state}."
PLACED = "It was placed on {day}."
LATE = "It was promised for {day} and is now {days} late."
LATE_UNDATED = "It is now {days} late."
PAID = "{amount} was paid with {method}{on}."
TOTAL = "The total is {total}."
PROMISED = "It should arrive by {day}."
CAME_LATE = "That was {days} after the promised date."
SHIPPED_ON = "The parcel left us on {day}."
PARCEL_OF_MANY = "Parcel with {items}: {state}{on}."
TRACKING = "The tracking number is {code}{carrier}."
LAST_SCAN = "Latest word from {carrier}{on}: “{event}.”"
ESTIMATE = "{carrier} now expects to deliver it on {day}."
CARRIER_DIFFERS = "{carrier} reports it as {state}, which differs from our record."
CARRIER_AWAY = (
    "{carrier} cannot be reached at the moment, so this is what our own record says. You can ask "
    "me again in a few minutes."
)
PARCEL_STATES = {
    "unknown": "no news",
    "preparing": "being prepared",
    "in_transit": "on its way",
    "out_for_delivery": "out for delivery",
    "held_up": "held up at the carrier",
    "delivered": "delivered",
    "lost": "lost",
    "returned": "on its way back to us",
}
PARCEL_LOST = "The carrier reports the parcel as lost. You do not have to pay for it again."
PARCEL_HELD = "The parcel is held up at the carrier."
NOT_LATE_YET = "It is not late yet."
REFUND_STATES = {
    "completed": "A refund of {amount} to {method} was sent{on}.",
    "pending": "A refund of {amount} to {method} is under way.",
    "failed": "A refund of {amount} to {method} did not go through.",
}
NO_REFUND = "I see no refund on {order} yet."
RETURN_UNTIL = "The last day to return it is {day}."
RETURN_OVER = "The last day to return it was {day}; a person decides what is still possible."
CANNOT_NOW = "In this state it can no longer be done from here."
NOT_FOUND = (
    "I cannot find {order} among the orders I may show you. Please check the number. An order that "
    "was placed with another e-mail address has to be shown with that address first."
)
NO_LOOKUP = "I could not look this up just now. Please ask me again in a few minutes."

# --- knowledge and products -------------------------------------------------------------------
MAY_HELP = "I am not sure that this answers your question, but it may help:"
UNKNOWN = "I do not know the answer to that; our help articles do not cover it."
UNKNOWN_ABOUT = "About “{question}”: I do not know the answer; our help articles do not cover it."
FEEDBACK = "Thank you for telling us."
DECLINE = (
    "I can only help with {shop}: orders, deliveries, returns, payments, products and your account."
)
SEARCH_DOWN = "I cannot read our help articles at the moment."
PRODUCT_PRICE = "{name} costs {price}."
PRODUCT_PRICES = "{name}: {prices}."
PRODUCT_STOCK = "In stock: {options}."
PRODUCT_NO_STOCK = "Not in stock at the moment: {options}."
PRODUCT_NONE_IN_STOCK = "{name} is not in stock at the moment."
PRODUCT_IN_STOCK = "{name} is in stock."
PRODUCTS_FOUND = "I found these: {names}. Which one do you mean?"

# --- handing over -----------------------------------------------------------------------------
PASSED_ON = "I have passed this to our team as ticket {ticket}."
PASSED_PERSON = "A person will take over. Your ticket number is {ticket}."
PASSED_COMPLAINT = (
    "I am sorry about this. I have passed your complaint to our team as ticket {ticket}."
)
ALREADY_OPEN = "Ticket {ticket} is already open for this, and I have added what you wrote."
WHAT_WAS_PASSED = "Passed on: {what}."
NEXT_OPEN = "Our team is at work now and answers here."
NEXT_CLOSED = "Our team is back {opens} and answers here."
NEXT_UNKNOWN = "Our team answers here."
NOTHING_CHANGED = "Nothing has been changed or paid yet; a person decides."
NO_TICKET = (
    "I could not open a ticket just now. Please use the button “Talk to a person”, or write again "
    "in a few minutes."
)

# --- small talk -------------------------------------------------------------------------------
GREETING = (
    "Hello{name}. What can I do for you? You can ask about an order, a delivery, a return or a "
    "product."
)
THANKS = "You are welcome. Write again whenever you need something."
IDENTITY = (
    "I am the AI assistant of {shop}. I can look up orders and parcels, read our help articles and "
    "pass things to a person, who can take over at any time."
)
YES = "All right. What can I do for you?"
NO = "All right, I leave it as it is. Is there anything else?"
SAFE = "I cannot give you a checked answer to this."

# --- other languages --------------------------------------------------------------------------
ENGLISH_ONLY = {
    "de": "Ich kann hier leider nur auf Englisch antworten. "
    "Soll ich Ihr Anliegen an einen Menschen weitergeben?",
    "fr": "Je ne peux malheureusement répondre ici qu'en anglais. "
    "Voulez-vous que je transmette votre demande à une personne ?",
    "es": "Lo siento, aquí solo puedo responder en inglés. "
    "¿Quiere que pase su consulta a una persona?",
    "pt": "Infelizmente só posso responder aqui em inglês. "
    "Quer que eu passe o seu pedido a uma pessoa?",
    "it": "Purtroppo qui posso rispondere solo in inglese. "
    "Vuole che passi la sua richiesta a una persona?",
    "nl": "Ik kan hier helaas alleen in het Engels antwoorden. "
    "Zal ik uw vraag doorgeven aan een medewerker?",
}
ENGLISH_ONLY_ELSE = "I can only answer in English here."
PERSON_IN = {
    "de": "Ein Mensch übernimmt. Ihre Ticketnummer ist {ticket}.",
    "fr": "Une personne prend le relais. Votre numéro de ticket est {ticket}.",
    "es": "Una persona se hará cargo. Su número de ticket es {ticket}.",
    "pt": "Uma pessoa vai assumir. O seu número de ticket é {ticket}.",
    "it": "Una persona prenderà in carico la richiesta. Il suo numero di ticket è {ticket}.",
    "nl": "Een medewerker neemt het over. Uw ticketnummer is {ticket}.",
}

# --- a ticket's summary, for staff ------------------------------------------------------------
WISH_ANSWER = "an answer to a question that the help articles do not cover"
SUMMARY_WISH = "The customer wants {wish}."
SUMMARY_ORDER = "Order {number}: {state}{total}{items}."
SUMMARY_PLACED = "Placed on {day}."
SUMMARY_PROMISED = "Promised for {day}{late}."
SUMMARY_DELIVERED = "Delivered on {day}."
SUMMARY_RETURN = "Last day for a return: {day}."
SUMMARY_CARRIER = "{carrier}{on}: “{event}”."
SUMMARY_CARRIER_AWAY = "{carrier} could not be reached."
SUMMARY_RULES = "Article read: {title}, {heading}."
SUMMARY_WORDS = "In their words: “{words}”"
CARD_SHOWN = (
    "I have put the details on a card below. Nothing happens before you confirm it, and then a "
    "person decides."
)
