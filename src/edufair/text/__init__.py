"""Words as material: counting them, splitting them into sentences, finding an answer in them."""
