// Fills in the form with the account that the service made up. Without scripts, the button signs in with it directly.
"use strict";
document.getElementById("autogen-button").addEventListener("click", (event) => {
  event.preventDefault();
  for (const [name, value] of Object.entries(event.currentTarget.dataset)) {
    document.querySelector(`#main-form [name="${name}"]`).value = value;
  }
});
