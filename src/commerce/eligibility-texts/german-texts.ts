/** The German texts of eligibility answers, by code. */
import type { EligibilityTexts } from "./english-texts.ts";

export const germanTexts: EligibilityTexts = {
  cancellationReasons: {
    ordered_by_mistake: "Versehentlich bestellt",
    changed_mind: "Anders überlegt",
    better_price: "Günstiger gefunden",
    arrives_too_late: "Kommt zu spät an",
    wrong_address: "Falsche Adresse",
    other: "Anderer Grund",
    out_of_stock: "Nicht auf Lager",
    fraud_suspected: "Verdacht auf Betrug",
    price_error: "Falscher Preis",
    buyer_unreachable: "Käufer nicht erreichbar",
  },
  cancellationObstacles: {
    order_already_canceled: "Die Bestellung ist storniert.",
    order_completed: "Die Bestellung ist abgeschlossen.",
    order_on_hold:
      "Der Händler hat die Bestellung angehalten. Bis er sie freigibt, kann sie nicht storniert werden.",
    cancellation_already_requested: "Eine Stornierungsanfrage wartet bereits auf die Antwort des Händlers.",
    cancellation_window_elapsed: "Die Frist für eine Stornierung ist abgelaufen.",
    self_service_disabled: "Der Händler bietet keine Stornierung durch den Käufer an.",
    fulfillment_in_progress: "Die Position wird gerade verpackt.",
    fulfillment_shipped: "Die Position wurde versandt.",
    fulfillment_delivered: "Die Position wurde geliefert.",
    payment_processing: "Die Zahlung wird gerade verarbeitet.",
    payment_disputed: "Der Zahlung wurde widersprochen.",
    refund_in_progress: "Eine Erstattung ist in Arbeit.",
    return_open: "Für die Position läuft eine Rückgabe.",
    line_already_canceled: "Die Position ist bereits storniert.",
    line_custom_made: "Die Position wird auf Bestellung angefertigt, und ihre Herstellung hat begonnen.",
    line_digital_delivered: "Die Position wurde digital geliefert.",
    line_not_separable:
      "Eine Aktion verbindet die Position mit anderen: Sie können nur zusammen storniert werden.",
    merchant_suspended: "Der Händler ist gesperrt.",
  },
  cancellationObstaclesToApprove: {
    cancellation_window_elapsed: "Die Frist für Stornierungen ist abgelaufen. Der Händler entscheidet.",
    self_service_disabled: "Stornierungen brauchen die Zustimmung des Händlers.",
    line_not_separable:
      "Eine Aktion verbindet die Position mit anderen, die nicht mehr storniert werden können.",
  },
  afterSalesObstacles: {
    not_fulfilled:
      "Der Artikel wurde noch nicht versandt. Ob er storniert werden kann, sagt die Auskunft zur Stornierung.",
    not_delivered_yet: "Der Artikel wurde noch nicht geliefert.",
    already_returned: "Der Artikel wurde bereits zurückgegeben.",
    return_in_progress: "Für den Artikel läuft eine Rückgabe oder ein Garantiefall.",
    quantity_exhausted: "Von diesem Artikel kann nichts mehr zurückgegeben werden.",
    return_window_elapsed: "Die Frist für diese Anfrage ist abgelaufen.",
    return_window_not_started: "Diese Anfrage ist noch nicht möglich.",
    final_sale: "Der Artikel ist vom Umtausch ausgeschlossen.",
    category_excluded: "Der Händler nimmt Artikel dieser Kategorie nicht zurück.",
    custom_made: "Der Artikel wurde für den Käufer angefertigt.",
    perishable: "Der Artikel ist verderblich.",
    hygiene_unsealed:
      "Der Artikel kann nur mit unversehrtem Siegel zurückgegeben werden. Der Händler prüft das Siegel nach " +
      "dem Eingang.",
    digital_content_used: "Der Artikel wurde digital geliefert.",
    gift_card: "Der Artikel ist ein Gutschein.",
    order_canceled: "Die Bestellung ist storniert.",
    order_refunded: "Die Bestellung wurde vollständig erstattet.",
    payment_disputed: "Der Zahlung wurde widersprochen.",
    order_on_hold: "Der Händler hat die Bestellung angehalten.",
    exchange_out_of_stock: "Keine Variante, gegen die getauscht werden könnte, ist auf Lager.",
    exchange_not_offered: "Der Händler bietet keinen Umtausch an.",
    warranty_not_registered: "Für den Artikel ist keine Garantie registriert.",
    warranty_expired: "Die Garantie oder Gewährleistung ist abgelaufen.",
    warranty_void: "Die Garantie ist erloschen.",
    benefit_exhausted: "Die Garantie umfasst keine weitere Reparatur oder keinen weiteren Ersatz dieser Art.",
    region_not_supported: "Diese Anfrage wird im Land der Bestellung nicht angeboten.",
    self_service_disabled: "Der Händler bietet diese Anfrage nicht an.",
    buyer_limit_reached: "Die Höchstzahl an Rückgaben ist erreicht.",
  },
  afterSalesObstaclesToApprove: {
    return_window_elapsed: "Die übliche Frist für diese Anfrage ist abgelaufen. Der Händler entscheidet.",
    category_excluded: "Der Händler entscheidet über Rückgaben von Artikeln dieser Kategorie.",
    region_not_supported: "Der Händler entscheidet über diese Anfrage im Land der Bestellung.",
    self_service_disabled: "Der Händler entscheidet über diese Anfrage.",
  },
};
