import org.openapitools.client.ApiClient;

class Connection {
  static ApiClient open(String url, String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("X-Internal-Token", token));
    return client;
  }
}
