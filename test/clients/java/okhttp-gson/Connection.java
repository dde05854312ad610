import org.openapitools.client.ApiClient;

class Connection {
  static ApiClient open(String url, String token) {
    ApiClient client = new ApiClient();
    client.setBasePath(url);
    client.setReadTimeout(60_000);
    client.setApiKey(token);
    return client;
  }
}
