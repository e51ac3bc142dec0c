/** Explains the errors of a GraphQL answer: where and why each error occurred, and how to fix it. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  type GraphqlAnswerError,
  type ErrorExplanation,
  type ErrorExplanationsByCode,
  loadErrorExplanations,
} from "./answer-errors.ts";

/**
 * The maximum number of errors of an answer that the list explains. The JSON of the answer contains all
 * errors.
 */
const explainedMax = 5;

export interface ErrorDocumentationUrls {
  /** The URL path of the JavaScript module with the explanations of error codes. */
  readonly errorGuide: string;
  /** The URL path of the documentation. */
  readonly docs: string;
}

interface ErrorListProps extends ErrorDocumentationUrls {
  readonly errors: readonly GraphqlAnswerError[];
}

export function GraphqlAnswerErrorList({ errors, errorGuide, docs }: ErrorListProps): JSX.Element {
  const [guide, setGuide] = useState<ErrorExplanationsByCode>({});
  useEffect(() => {
    // Without the explanations, which could not be loaded, the list shows only the errors' messages and links
    // to the documentation.
    void loadErrorExplanations(errorGuide).then(setGuide, () => undefined);
  }, [errorGuide]);
  const hiddenCount = errors.length - explainedMax;
  return (
    <section class="answer-errors" aria-label="Errors of the answer">
      {errors.slice(0, explainedMax).map((error, index) => (
        <ErrorCard
          // The Preact key of an error contains its index, because several errors may have the same message.
          // The errors never change their order.
          key={`${index} ${error.message}`}
          error={error}
          docs={docs}
          // The explanation is shown only once: at the first of several errors with the same code.
          explanation={
            errors.findIndex(({ code }) => code === error.code) === index
              ? guide[error.code ?? ""]
              : undefined
          }
        />
      ))}
      {hiddenCount > 0 ? <p class="soft">And {hiddenCount} more, in the JSON.</p> : null}
    </section>
  );
}

interface ErrorCardProps {
  readonly error: GraphqlAnswerError;
  readonly docs: string;
  readonly explanation: ErrorExplanation | undefined;
}

function ErrorCard({ error, docs, explanation }: ErrorCardProps): JSX.Element {
  const { message, code, place, details, requestId } = error;
  return (
    <article class="card">
      <p class="message">
        {code === undefined ? null : (
          <>
            <span class="badge fault">{code}</span>{" "}
          </>
        )}
        {message}
      </p>
      {place === "" ? null : <p class="soft">At {place}.</p>}
      {details.length === 0 ? null : (
        <ul>
          {details.map(({ field, message: text, allowed }) => (
            <li key={`${field} ${text}`}>
              <code>{field}</code> {text}
              {allowed === null || allowed === undefined || allowed.length === 0
                ? null
                : ` Allowed: ${allowed.join(", ")}.`}
            </li>
          ))}
        </ul>
      )}
      {explanation === undefined ? null : (
        <details>
          <summary>Why this happens, and what to do</summary>
          <p>
            <CodeText text={explanation.why} />
          </p>
          <p>
            <CodeText text={explanation.remedy} />
          </p>
        </details>
      )}
      {code === undefined ? null : (
        <p class="soft">
          <a href={`${docs}/errors#${code}`} target="_blank" rel="noreferrer">
            {code} in the documentation
          </a>
          {requestId === undefined ? null : (
            <>
              {" "}
              · Request <code>{requestId}</code>
            </>
          )}
        </p>
      )}
    </article>
  );
}

/** Renders a text. The parts of the text between backticks are shown as code. */
function CodeText({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split("`").map((piece, index) =>
        // The index of each part of the text is used as its Preact key, because the parts never change their
        // order.
        index % 2 === 1 ? <code key={`${index}`}>{piece}</code> : piece,
      )}
    </>
  );
}
